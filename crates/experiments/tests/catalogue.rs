//! The list of all figures is complete, and about what is there.

use experiments::catalogue::{Item, Way};
use experiments::papers::PAPERS;
use experiments::{experiment, listing};

#[test]
fn every_figure_and_table_is_named_once() {
    for paper in PAPERS {
        let (mut figures, mut tables) = (Vec::new(), Vec::new());
        for row in paper.rows {
            assert!(!row.ways.is_empty() && !row.shows.is_empty(), "{} {:?}", paper.name, row.item);
            match row.item {
                Item::Figures(first, last) => figures.extend(first..=last),
                Item::Tables(first, last) => tables.extend(first..=last),
                Item::Section(_) => {}
            }
        }
        figures.sort_unstable();
        tables.sort_unstable();
        assert!(figures.into_iter().eq(1..=paper.figures), "{}", paper.name);
        assert!(tables.into_iter().eq(1..=paper.tables), "{}", paper.name);
    }
}

#[test]
fn it_names_all_experiments_and_only_models_and_pages_that_exist() {
    let mut named = Vec::new();
    for way in PAPERS.iter().flat_map(|it| it.rows).flat_map(|it| it.ways) {
        match way {
            Way::Simulated(names, _) => named.extend(*names),
            Way::Model(names) => {
                let models = names.iter().map(|it| simulator::MachineModel::by_name(it));
                models.for_each(|it| drop(it.unwrap()));
            }
            Way::Counted(_, page) | Way::Ran(_, page) | Way::Drawing(page) => {
                let path = format!("{}/../../docs/{page}", env!("CARGO_MANIFEST_DIR"));
                assert!(std::path::Path::new(&path).is_file(), "{path}");
            }
            Way::Not(why) => assert!(!why.is_empty()),
        }
    }
    for name in &named {
        assert!(experiment::names().any(|it| it == *name), "{name} is no experiment");
    }
    for name in experiment::names() {
        assert!(named.contains(&name), "{name} is not in the list");
    }
}

#[test]
fn the_document_has_the_list() {
    let document = include_str!("../../../docs/experiments.md");
    assert!(document.contains(&listing::section()), "docs/experiments.md is of another list");
}
