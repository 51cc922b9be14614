//! An open pipeline: a source, operators so far, and which attribute stands where.

use std::collections::BTreeSet;

use plan::{Expr, ExprKind, Fetch, Operator, PipelineId, Source};
use types::{SqlError, SqlResult};

use plan::relation::{Attr, AttrSet, Attribute};

/// A hash table of which every row of the result has a partner: scans may drop rows without one.
#[derive(Clone, Debug)]
pub(crate) struct Reducer {
    /// The attributes equal to one of its keys.
    pub attrs: AttrSet,
    /// The pipeline that builds it.
    pub build: PipelineId,
    /// Which of its keys.
    pub key: usize,
    /// The share of the key's domain that it keeps.
    pub share: f64,
}

/// An open pipeline.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Where its rows come from.
    pub source: Source,
    /// What is done so far.
    pub operators: Vec<Operator>,
    /// The attribute of each column.
    pub layout: Vec<Attr>,
    /// Attributes that equal one of the layout: (the attribute, the one it equals).
    pub aliases: Vec<(Attr, Attr)>,
    /// Hash tables in which each of its rows has a partner.
    pub reducers: Vec<Reducer>,
    /// Expected rows.
    pub rows: f64,
    /// Columns that come into its last join.
    pub before_join: usize,
}

impl Stream {
    /// A pipeline that begins at a source.
    pub fn new(source: Source, layout: Vec<Attr>, rows: f64) -> Self {
        let (operators, aliases, reducers) = (Vec::new(), Vec::new(), Vec::new());
        Self { source, operators, layout, aliases, reducers, rows, before_join: 0 }
    }

    /// The column of an attribute, or of one that equals it.
    pub fn position(&self, attr: Attr) -> Option<usize> {
        let mut wanted = attr;
        // Each alias was added for an attribute already there, so a chain is no longer than the list.
        for _ in 0..=self.aliases.len() {
            if let Some(place) = self.layout.iter().position(|it| *it == wanted) {
                return Some(place);
            }
            wanted = self.aliases.iter().find(|it| it.0 == wanted)?.1;
        }
        None
    }

    /// The state that it reads as it is, when that holds these attributes: nothing is left to compute.
    pub fn state(&self, wanted: &[Attr]) -> Option<PipelineId> {
        match &self.source {
            Source::Read(states) if self.operators.is_empty() => match states[..] {
                [state] if wanted.iter().all(|it| self.layout.contains(it)) => Some(state),
                _ => None,
            },
            _ => None,
        }
    }

    /// Brings the layout to exactly these attributes.
    pub fn shape(&mut self, wanted: &[Attr], attributes: &[Attribute]) -> SqlResult<()> {
        if self.layout == wanted {
            return Ok(());
        }
        let mut exprs = Vec::with_capacity(wanted.len());
        for attr in wanted {
            let place = self
                .position(*attr)
                .ok_or_else(|| SqlError::internal("a column of the result is lost on the way"))?;
            exprs.push(Expr::column(place, attributes[*attr].data_type));
        }
        self.project(exprs, wanted.to_vec());
        Ok(())
    }

    /// Keeps rows for which a condition is TRUE, and asks that before what it does not need is fetched.
    pub fn filter(&mut self, condition: Expr) {
        let at = match self.operators.last() {
            Some(Operator::Fetch(fetch)) if self.is_before(fetch, [&condition]) => 1,
            _ => 0,
        };
        self.operators.insert(self.operators.len() - at, Operator::Filter(condition));
    }

    /// Takes out a fetch at the end that these expressions do not need, and the attributes that it adds.
    pub fn fetch_later<'a>(
        &mut self,
        needed: impl IntoIterator<Item = &'a Expr>,
    ) -> Option<(Operator, Vec<Attr>)> {
        let Some(Operator::Fetch(fetch)) = self.operators.last() else { return None };
        if !self.is_before(fetch, needed) {
            return None;
        }
        let attrs = self.layout.split_off(self.layout.len() - fetch.payload.len());
        self.operators.pop().map(|it| (it, attrs))
    }

    /// Whether expressions use nothing that the fetch at the end adds.
    fn is_before<'a>(&self, fetch: &Fetch, exprs: impl IntoIterator<Item = &'a Expr>) -> bool {
        let mut used = BTreeSet::new();
        exprs.into_iter().for_each(|it| it.collect_columns(&mut used));
        let width = self.layout.len() - fetch.payload.len();
        used.iter().all(|it| *it < width)
    }

    /// Replaces the layout; drops what follows from a projection right before.
    pub fn project(&mut self, exprs: Vec<Expr>, layout: Vec<Attr>) {
        let columns_only = exprs.iter().all(|it| matches!(it.kind, ExprKind::Column(_)));
        // What is computed before is computed once, also where it is wanted twice: it may be volatile, and it costs.
        let copies = |before: &[Expr]| {
            let computed = |it: &Expr| match it.kind {
                ExprKind::Column(place) => {
                    let own = &before[place].kind;
                    (!matches!(own, ExprKind::Column(_) | ExprKind::Literal(_))).then_some(place)
                }
                _ => None,
            };
            let mut places: Vec<usize> = exprs.iter().filter_map(computed).collect();
            let all = places.len();
            places.sort_unstable();
            places.dedup();
            places.len() < all
        };
        match self.operators.last_mut() {
            Some(Operator::Project(before)) if columns_only && !copies(before) => {
                let place = |it: &Expr| match it.kind {
                    ExprKind::Column(place) => before[place].clone(),
                    _ => it.clone(),
                };
                *before = exprs.iter().map(place).collect();
            }
            Some(Operator::Join(join)) if columns_only => {
                let place = |it: &Expr| match it.kind {
                    ExprKind::Column(place) => join.output[place],
                    _ => 0,
                };
                join.output = exprs.iter().map(place).collect();
            }
            _ => self.operators.push(Operator::Project(exprs)),
        }
        self.layout = layout;
    }
}
