//! The experiment files, and the directions of the figures that are quick to run.

use experiments::report::report;
use experiments::settings::{Division, Placing, Strategy, Workload};
use experiments::{Class, Experiment, Figure, Settings, experiment, run, svg, text};

/// An experiment with fewer clients than the paper's, which changes numbers but not directions.
fn figure(name: &str, clients: usize) -> Figure {
    let experiment = Experiment::by_name(name).unwrap().with_clients_up_to(clients);
    Figure::run(experiment, 1, &mut |_, _| {}).unwrap()
}

#[test]
fn all_files_load_and_say_what_was_published_where() {
    assert_eq!(experiment::names().count(), 20);
    for name in experiment::names() {
        let it = Experiment::by_name(name).unwrap();
        assert_eq!(it.name, name);
        assert!(it.claims.iter().any(|it| it.main), "{name}");
        assert!(it.claims.iter().all(|it| !it.source.is_empty() && !it.says.is_empty()));
        assert_eq!((it.cells.len(), it.cells[0].len()), (it.series.len(), it.points.len()));
        let machines = it.cells.iter().flatten().map(|it| it.machine.as_str());
        machines.for_each(|it| drop(simulator::MachineModel::by_name(it).unwrap()));
    }
}

/// Who changes an experiment makes docs/experiments.md anew: it tells the outcome of a run, the files what it is held to.
#[test]
fn the_document_is_about_these_files() {
    let document = include_str!("../../../docs/experiments.md");
    let mut counts = [0; Class::ALL.len()];
    for name in experiment::names() {
        let it = Experiment::by_name(name).unwrap();
        assert!(
            document.contains(&format!("\n## {name}\n\n{}: {}.", it.figure, it.title)),
            "{name}"
        );
        let section = document.split(&format!("\n## {name}\n")).nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        for claim in &it.claims {
            let says = [format!("| {} |", claim.says), format!("| **{}** |", claim.says)];
            let line = section.lines().find(|line| says.iter().any(|it| line.starts_with(it)));
            let line = line.unwrap_or_else(|| panic!("{name}: {}", claim.says));
            assert!(line.contains(&claim.source) && section.contains(&claim.why), "{name}: {line}");
            assert!(line.contains(claim.recorded.name()), "{name}: {line}");
            counts[claim.recorded as usize] += usize::from(!claim.ours);
        }
    }
    for class in Class::ALL {
        let line = format!("| {} | {} |", class.name(), counts[class as usize]);
        assert!(document.contains(&line), "{line}");
    }
    let readme =
        include_str!("../../../README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let [within10, within25, direction, arithmetic, fails] = counts;
    let all: usize = counts.iter().sum();
    let sentence = format!(
        "Of their {all} claims, {within10} come out within 10 % of the published ratio, {within25} within 25 %, \
         {direction} in their direction, {arithmetic} are arithmetic, and {fails} fail"
    );
    assert!(readme.contains(&sentence), "README says otherwise than: {sentence}");
}

/// The quick ones as they are written down; `nodewise simulate all` holds all of them to that.
#[test]
fn what_is_written_down_comes_out() {
    for name in ["hyper-11", "hyper-53", "hyper-54", "snc-11", "snc-12", "snc-13", "snc-14"] {
        let experiment = Experiment::by_name(name).unwrap();
        let figure = Figure::run(experiment, 1, &mut |_, _| {}).unwrap();
        assert!(figure.drifted().is_empty(), "{}", text::tables(&figure));
        sound(&figure);
    }
}

/// Those with many clients, with fewer: numbers change, what fails and what does not should not.
#[test]
fn directions_hold() {
    let few =
        [("hana-01", 128), ("hana-08", 256), ("hana-10", 64), ("hana-14", 64), ("hana-15", 64)];
    for (name, clients) in few.into_iter().chain([("hana-16", 64), ("hana-17", 64)]) {
        let figure = figure(name, clients);
        assert!(figure.holds(), "{}", text::tables(&figure));
        assert!(figure.drifted().is_empty(), "another set-up has no record");
        sound(&figure);
    }
}

fn sound(figure: &Figure) {
    for outcome in figure.outcomes.iter().flatten() {
        assert!(outcome.peak_load <= 1.0 + 1e-6, "{}", outcome.peak_load);
        // A core that another process keeps busy is stretched beyond the span that is measured.
        let shared = figure.experiment.cells.iter().flatten().any(|it| !it.faults.is_empty());
        assert!(shared || outcome.get("cpu").unwrap() <= 100.0 + 1e-6, "{outcome:?}");
    }
}

/// What the database adds to the papers: it steals what computes and not what reads (P-HANA 7).
#[test]
fn the_adaptive_strategy_follows_the_better_one() {
    let skewed = Settings { clients: 32, skewed: true, ..Settings::default() };
    let one_part = Settings {
        machine: "16x-ivybridge-ex".into(),
        workload: Workload::Aggregate,
        placement: Placing::Physical,
        parts: Some(1),
        columns: 1,
        clients: 8,
        morsel_rows: 1 << 16,
        row_cost: (6.25, 34.0),
        ..Settings::default()
    };
    let throughput = |base: &Settings, strategy| {
        let morsels = Settings { strategy, division: Division::Morsels, ..base.clone() };
        run(&morsels, 1).unwrap().get("throughput").unwrap()
    };
    let [target, bound, adaptive] =
        [Strategy::Target, Strategy::Bound, Strategy::Adaptive].map(|it| throughput(&skewed, it));
    assert!(target < 0.95 * bound && adaptive > 0.97 * bound, "{target} {bound} {adaptive}");
    let [target, bound, adaptive] =
        [Strategy::Target, Strategy::Bound, Strategy::Adaptive].map(|it| throughput(&one_part, it));
    assert!(bound < 0.3 * target && adaptive > 0.6 * target, "{target} {bound} {adaptive}");
}

#[test]
fn faults_and_other_machines_change_what_comes_out() {
    let settings = Settings { clients: 1, workers: Some(8), ..Settings::default() };
    let settings = Settings { division: Division::Morsels, ..settings };
    let sound = run(&settings, 1).unwrap().get("throughput").unwrap();
    let slow = Settings { faults: vec!["slow-core=0:0.1".parse().unwrap()], ..settings.clone() };
    let slow = run(&slow, 1).unwrap().get("throughput").unwrap();
    assert!(slow < 0.99 * sound && slow > 0.5 * sound, "morsels go round a slow core: {slow}");
    let wrong = Settings { faults: vec!["no-memory=9".parse().unwrap()], ..settings };
    assert!(run(&wrong, 1).unwrap_err().to_string().contains("there is no node 9"));
    let model = simulator::MachineModel::by_name("e5-4657l-v2").unwrap();
    let there = Experiment::by_name("hana-01").unwrap().with_clients_up_to(4).on(model);
    let there = there.with_faults(&["busy=3:0:1".parse().unwrap()]);
    let figure = Figure::run(there, 1, &mut |_, _| {}).unwrap();
    let table = text::tables(&figure);
    assert!(table.contains("Changed: at most 4 clients, on ") && table.contains("busy=3:0:1"));
    assert!(figure.value(1, 0, "throughput") > figure.value(0, 0, "throughput"));
}

#[test]
fn a_seed_repeats_its_outcome_and_another_does_not() {
    let settings = Settings { clients: 50, strategy: Strategy::Target, ..Settings::default() };
    let once = run(&settings, 4).unwrap();
    assert_eq!(once, run(&settings, 4).unwrap());
    assert_ne!(once, run(&settings, 5).unwrap());
}

#[test]
fn hard_tasks_are_never_stolen_and_local_data_are_read_locally() {
    let base = Settings { clients: 40, skewed: true, ..Settings::default() };
    for placement in [Placing::RoundRobin, Placing::IndexVector, Placing::Physical] {
        let bound = run(&Settings { placement, ..base.clone() }, 2).unwrap();
        assert_eq!(bound.get("stolen"), Some(0.0));
        assert!(bound.get("remote").unwrap() < 1.0, "{bound:?}");
    }
    let target = run(&Settings { strategy: Strategy::Target, ..base }, 2).unwrap();
    assert!(target.get("stolen").unwrap() > 0.0);
    let serial = Settings { parallel: false, clients: 1, ..Settings::default() };
    let serial = run(&serial, 2).unwrap();
    assert_eq!(serial.get("tasks"), Some(3.0));
}

#[test]
fn odd_settings_are_refused_or_run() {
    let one = Settings { clients: 1, columns: 1, rows: 1000, ..Settings::default() };
    assert!(run(&one, 1).unwrap().get("throughput").unwrap() > 0.0);
    let all = Settings { selectivity: 1.0, clients: 3, rows: 1 << 20, ..Settings::default() };
    assert!(run(&all, 1).unwrap().get("memory").unwrap() > 0.0);
    let nowhere = Settings { workers_on: vec![9], ..Settings::default() };
    assert!(run(&nowhere, 1).unwrap_err().to_string().contains("no such nodes"));
    let union = Settings { workload: Workload::Union, ..Settings::default() };
    assert!(run(&union, 1).unwrap_err().to_string().contains("needs the node of each column"));
    let far = Settings { workload: Workload::Union, column_nodes: vec![7], ..Settings::default() };
    assert!(run(&far, 1).unwrap_err().to_string().contains("no node 7"));
    let machine = Settings { machine: "abacus".into(), ..Settings::default() };
    assert!(run(&machine, 1).unwrap_err().to_string().contains("no such machine"));
}

#[test]
fn a_bad_file_says_what_is_wrong_and_where() {
    let good = include_str!("../../../experiments/hana-15.json");
    let error = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        Experiment::parse("f", &good.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert!(error("{", "").contains("f: not JSON"));
    assert!(error("\"title\"", "\"titel\"").contains("title: is missing"));
    assert!(error("\"target\"", "\"stolen\"").contains("series[1].strategy: stolen is not known"));
    assert!(error("\"clients\": 4}", "\"clients\": 0}").contains("points[1].clients: a whole"));
    assert!(error("\"clients\": 4}", "\"client\": 4}").contains("points[1].client: there is no"));
    assert!(error("\"skewed\": true", "\"skewed\": 1").contains("base.skewed: true or false"));
    assert!(
        error("[\"Target\", \"1024\"]", "[\"Target\", \"7\"]").contains("claims[0].of: 7 is none")
    );
    assert!(error("\"measure\": \"cpu\"", "\"measure\": \"gpu\"").contains("gpu is no measure"));
    assert!(error("\"published\": [0.85],", "").contains("at_least: or at_most is needed"));
    assert!(
        error("\"published\"", "\"at_most\": 1, \"published\"").contains("two sides of its own")
    );
    assert!(
        error("\"outcome\": \"direction\"", "\"outcome\": \"fine\"").contains("fine is none of")
    );
    assert!(error("\"main\": true", "\"main\": false").contains("a main claim"));
    assert!(Experiment::by_name("hana-99").unwrap_err().to_string().contains("hana-08"));
}

#[test]
fn figures_become_tables_a_report_and_a_chart() {
    let figure = figure("hana-08", 16);
    let table = text::tables(&figure);
    assert!(table.contains("throughput (statements/min)") && table.contains("Bound"));
    let report = report(&[figure.clone(), figure.clone()], Some("images"));
    assert!(report.contains("of 2 figures") && report.contains("| P-HANA figure 8"));
    assert!(report.contains("(images/hana-08.svg)") && report.contains("at most 16 clients"));
    assert!(report.contains("What became of all 8 claims") && report.contains("| fails | "));
    assert!(report.contains("| 5.00 |") && report.contains("section 6.1.1"), "{report}");
    let chart = svg::chart(&figure);
    assert!(chart.starts_with("<svg") && chart.trim_end().ends_with("</svg>"));
    assert_eq!(chart.matches("<polyline").count(), 4);
    assert!(!chart.contains("NaN") && !chart.contains("inf"));
}
