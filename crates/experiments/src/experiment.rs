//! An experiment of the papers as a file: what is varied, what was published, and what must come out.

use simulator::fields::{Fields, FileError, parse};
use simulator::{Fault, MachineModel};
use stdx::sync::Arc;

use crate::claim::{Claim, Class, Expected};
use crate::outcome::MEASURES;
use crate::settings::Settings;

/// The experiments that come with the program: names and files.
const FILES: [(&str, &str); 20] = [
    ("hana-01", include_str!("../../../experiments/hana-01.json")),
    ("hana-08", include_str!("../../../experiments/hana-08.json")),
    ("hana-09", include_str!("../../../experiments/hana-09.json")),
    ("hana-10", include_str!("../../../experiments/hana-10.json")),
    ("hana-11", include_str!("../../../experiments/hana-11.json")),
    ("hana-12", include_str!("../../../experiments/hana-12.json")),
    ("hana-13", include_str!("../../../experiments/hana-13.json")),
    ("hana-14", include_str!("../../../experiments/hana-14.json")),
    ("hana-15", include_str!("../../../experiments/hana-15.json")),
    ("hana-16", include_str!("../../../experiments/hana-16.json")),
    ("hana-17", include_str!("../../../experiments/hana-17.json")),
    ("hana-18", include_str!("../../../experiments/hana-18.json")),
    ("hana-19", include_str!("../../../experiments/hana-19.json")),
    ("snc-11", include_str!("../../../experiments/snc-11.json")),
    ("snc-12", include_str!("../../../experiments/snc-12.json")),
    ("snc-13", include_str!("../../../experiments/snc-13.json")),
    ("snc-14", include_str!("../../../experiments/snc-14.json")),
    ("hyper-11", include_str!("../../../experiments/hyper-11.json")),
    ("hyper-53", include_str!("../../../experiments/hyper-53.json")),
    ("hyper-54", include_str!("../../../experiments/hyper-54.json")),
];

/// A figure of a paper: each point with the settings of each series.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// The name by which it is asked for.
    pub name: String,
    /// Paper, figure and section.
    pub figure: String,
    /// What it is about.
    pub title: String,
    /// What is varied along the points.
    pub axis: String,
    /// Names of the series.
    pub series: Vec<String>,
    /// Names of the points.
    pub points: Vec<String>,
    /// The settings of each cell: `cells[series][point]`.
    pub cells: Vec<Vec<Settings>>,
    /// The measures to show, the first one in the chart.
    pub show: Vec<String>,
    /// What the paper says about its figure.
    pub claims: Vec<Claim>,
    /// What to know when the two are compared.
    pub notes: Vec<String>,
    /// What was changed against the paper's set-up, when something was: published ratios are of another machine then.
    pub changed: Vec<String>,
}

/// The names of all experiments.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|it| it.0)
}

impl Experiment {
    /// The experiment of that name.
    pub fn by_name(name: &str) -> Result<Self, FileError> {
        match FILES.iter().find(|it| it.0 == name) {
            Some((file, text)) => Self::parse(file, text),
            None => {
                let known: Vec<&str> = names().collect();
                let what = format!("there is no such experiment; known are {}", known.join(", "));
                Err(FileError::new("experiment", name, what))
            }
        }
    }

    /// An experiment from the text of a file; `file` names it in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        let value = parse(file, text)?;
        let fields = Fields::new(file, "", &value)?;
        let base = fields.object("base")?;
        let settings = Settings::default().with(&base)?;
        base.close()?;
        let series = steps(&fields, "series")?;
        let points = steps(&fields, "points")?;
        let mut cells = Vec::new();
        for (_, change) in &series {
            let settings = settings.with(change)?;
            let row = points.iter().map(|(_, change)| settings.with(change));
            cells.push(row.collect::<Result<Vec<_>, _>>()?);
        }
        let names = |steps: &[(String, Fields<'_>)]| -> Vec<String> {
            steps.iter().map(|it| it.0.clone()).collect()
        };
        let mut experiment = Self {
            name: fields.text("name")?.to_owned(),
            figure: fields.text("figure")?.to_owned(),
            title: fields.text("title")?.to_owned(),
            axis: fields.text("axis")?.to_owned(),
            series: names(&series),
            points: names(&points),
            cells,
            show: fields.texts("show")?.into_iter().map(str::to_owned).collect(),
            claims: Vec::new(),
            notes: fields.texts("notes")?.into_iter().map(str::to_owned).collect(),
            changed: Vec::new(),
        };
        for (index, value) in fields.list("claims")?.iter().enumerate() {
            let claim = Fields::new(file, &format!("claims[{index}]"), value)?;
            experiment.claims.push(experiment.claim(&claim)?);
            claim.close()?;
        }
        for (steps, field) in [(series, "series"), (points, "points")] {
            if steps.is_empty() {
                return Err(fields.error(field, "is empty"));
            }
            steps.into_iter().try_for_each(|(_, change)| change.close())?;
        }
        if let Some(unknown) = experiment.show.iter().find(|it| !is_measure(it)) {
            return Err(fields.error("show", no_measure(unknown)));
        }
        if experiment.show.is_empty() || !experiment.claims.iter().any(|it| it.main) {
            return Err(fields.error("show", "a measure and a main claim are needed"));
        }
        fields.close()?;
        Ok(experiment)
    }

    fn claim(&self, fields: &Fields<'_>) -> Result<Claim, FileError> {
        let measure = fields.text("measure")?;
        if !is_measure(measure) {
            return Err(fields.error("measure", no_measure(measure)));
        }
        let published = fields.list("published")?.iter().map(serde_json::Value::as_f64);
        let published: Option<Vec<f64>> = published.collect();
        let published = match published.as_deref() {
            Some([]) => None,
            Some(&[one]) => Some((one, one)),
            Some(&[low, high]) => Some((low, high)),
            _ => return Err(fields.error("published", "one or two numbers are needed")),
        };
        let bounds = (fields.maybe_number("at_least")?, fields.maybe_number("at_most")?);
        let expected = match (published, bounds) {
            (Some((low, high)), (None, None)) => Expected::Published(low, high),
            (None, (None, None)) => return Err(fields.error("at_least", "or at_most is needed")),
            (None, (least, most)) => {
                Expected::Direction(least.unwrap_or(0.0), most.unwrap_or(f64::INFINITY))
            }
            _ => return Err(fields.error("published", "has two sides of its own, so no bounds")),
        };
        let outcome = fields.text("outcome")?;
        let Some(recorded) = Class::by_name(outcome) else {
            let known: Vec<&str> = Class::ALL.iter().map(|it| it.name()).collect();
            let what = format!("{outcome} is none of {}", known.join(", "));
            return Err(fields.error("outcome", what));
        };
        Ok(Claim {
            says: fields.text("says")?.to_owned(),
            measure: measure.to_owned(),
            of: self.cell(fields, "of")?,
            over: self.cell(fields, "over")?,
            expected,
            source: fields.text("source")?.to_owned(),
            main: fields.flag_or("main", false)?,
            ours: fields.flag_or("ours", false)?,
            arithmetic: fields.text_or("arithmetic", "")?.to_owned(),
            recorded,
            why: fields.text_or("why", "")?.to_owned(),
        })
    }

    /// A cell named by series and point.
    fn cell(&self, fields: &Fields<'_>, field: &str) -> Result<(usize, usize), FileError> {
        let names = fields.texts(field)?;
        let find = |known: &[String], name: &str| {
            let at = known.iter().position(|it| it == name);
            at.ok_or_else(|| fields.error(field, format!("{name} is none of {}", known.join(", "))))
        };
        match names[..] {
            [series, point] => Ok((find(&self.series, series)?, find(&self.points, point)?)),
            _ => Err(fields.error(field, "the names of a series and a point are needed")),
        }
    }

    /// The same experiment with fewer clients, for a first look: no more than `most`.
    pub fn with_clients_up_to(mut self, most: usize) -> Self {
        for cell in self.cells.iter_mut().flatten() {
            cell.clients = cell.clients.min(most);
        }
        self.changed.push(format!("at most {most} clients"));
        self
    }

    /// The same experiment on another machine.
    pub fn on(mut self, model: MachineModel) -> Self {
        self.changed.push(format!("on {}", model.title));
        let model = Arc::new(model);
        for cell in self.cells.iter_mut().flatten() {
            cell.model = Some(model.clone());
        }
        self
    }

    /// The same experiment with these faults beside its own.
    pub fn with_faults(mut self, faults: &[Fault]) -> Self {
        self.changed.extend(faults.iter().map(|it| format!("with {it}")));
        for cell in self.cells.iter_mut().flatten() {
            cell.faults.extend_from_slice(faults);
        }
        self
    }
}

fn is_measure(name: &str) -> bool {
    MEASURES.iter().any(|it| it.0 == name)
}

fn no_measure(name: &str) -> String {
    let known: Vec<&str> = MEASURES.iter().map(|it| it.0).collect();
    format!("{name} is no measure; known are {}", known.join(", "))
}

/// Named changes of the settings.
fn steps<'a>(fields: &Fields<'a>, field: &str) -> Result<Vec<(String, Fields<'a>)>, FileError> {
    let mut steps = Vec::new();
    for (index, value) in fields.list(field)?.iter().enumerate() {
        let change = Fields::new(fields.file(), &format!("{field}[{index}]"), value)?;
        steps.push((change.text("name")?.to_owned(), change));
    }
    Ok(steps)
}
