//! Checks that a plan hangs together: every column within its layout and of the type that stands there, every state
//! made before it is read. Run on each plan in debug builds and by tests.

use types::DataType;

use crate::{
    Expr, ExprKind, Fetch, HashBuild, Join, JoinKind, Operator, Pipeline, PipelineId, Plan, Sink,
    Source,
};

type Check<T> = Result<T, String>;

/// What a finished pipeline leaves.
enum State {
    Rows(Vec<DataType>),
    Table { keys: Vec<DataType>, payload: Vec<DataType> },
    Nothing,
}

struct Validator {
    states: Vec<State>,
}

/// Checks a plan.
pub fn validate(plan: &Plan) -> Result<(), String> {
    let mut this = Validator { states: Vec::new() };
    for (place, pipeline) in plan.pipelines.iter().enumerate() {
        if pipeline.id.index() != place {
            return Err(format!("pipeline {place} calls itself {}", pipeline.id.index()));
        }
        let last = place + 1 == plan.pipelines.len();
        if last != matches!(pipeline.sink, Sink::Result) {
            return Err(format!("pipeline {place}: the last pipeline alone gives the result"));
        }
        let (layout, state) =
            this.pipeline(pipeline).map_err(|it| format!("pipeline {place}: {it}"))?;
        if last {
            let output: Vec<DataType> = plan.output.iter().map(|it| it.data_type).collect();
            same("the result", &output, &layout)?;
        }
        this.states.push(state);
    }
    if plan.pipelines.is_empty() {
        return Err("there is no pipeline".to_owned());
    }
    Ok(())
}

fn same(what: &str, wanted: &[DataType], found: &[DataType]) -> Check<()> {
    // Text is text: its length limits do not matter once it is stored. A number of a range of its own is held and compared as the
    // plain one.
    // Null is a type that the plan does not tell (a column of a scan that no filter uses).
    let untold = |it: &DataType| *it == DataType::Null;
    let alike = |(a, b): (&DataType, &DataType)| {
        a.plain() == b.plain()
            || (a.stored().is_text() && b.stored().is_text())
            || untold(a)
            || untold(b)
    };
    if wanted.len() == found.len() && wanted.iter().zip(found).all(alike) {
        return Ok(());
    }
    Err(format!("{what}: types {wanted:?} where {found:?} stand"))
}

impl Validator {
    fn rows(&self, id: PipelineId) -> Check<&[DataType]> {
        match self.states.get(id.index()) {
            Some(State::Rows(types)) => Ok(types),
            Some(_) => Err(format!("pipeline {} leaves no rows", id.index())),
            None => Err(format!("pipeline {} has not run", id.index())),
        }
    }

    fn table(&self, id: PipelineId) -> Check<(&[DataType], &[DataType])> {
        match self.states.get(id.index()) {
            Some(State::Table { keys, payload }) => Ok((keys, payload)),
            Some(_) => Err(format!("pipeline {} leaves no hash table", id.index())),
            None => Err(format!("pipeline {} has not run", id.index())),
        }
    }

    fn pipeline(&self, pipeline: &Pipeline) -> Check<(Vec<DataType>, State)> {
        let mut layout = self.source(&pipeline.source)?;
        for operator in &pipeline.operators {
            layout = self.operator(operator, layout)?;
        }
        let state = match &pipeline.sink {
            Sink::HashBuild(HashBuild { keys, payload, .. }) => {
                self.exprs(keys, &layout)?;
                self.exprs(payload, &layout)?;
                State::Table { keys: types_of(keys), payload: types_of(payload) }
            }
            Sink::Aggregate { keys, aggregates, .. } => {
                self.exprs(keys, &layout)?;
                for aggregate in aggregates {
                    for expr in aggregate.expressions() {
                        self.expr(expr, &layout)?;
                    }
                }
                let aggregates = aggregates.iter().map(|it| it.data_type);
                State::Rows(types_of(keys).into_iter().chain(aggregates).collect())
            }
            Sink::Sort { keys, partition, .. } => {
                if *partition > keys.len() {
                    return Err(format!("{partition} of {} sort keys make groups", keys.len()));
                }
                keys.iter().try_for_each(|it| self.expr(&it.expr, &layout))?;
                State::Rows(layout.clone())
            }
            Sink::Window { keys, partition, functions, .. } => {
                if *partition > keys.len() {
                    return Err(format!("{partition} of {} window keys make groups", keys.len()));
                }
                keys.iter().try_for_each(|it| self.expr(&it.expr, &layout))?;
                for it in functions {
                    if it.order > keys.len() - partition {
                        return Err("a window function with an order of its own".to_owned());
                    }
                    it.expressions().try_for_each(|it| self.expr(it, &layout))?;
                }
                let made = functions.iter().map(|it| it.data_type);
                State::Rows(layout.iter().copied().chain(made).collect())
            }
            Sink::Materialize { .. } => State::Rows(layout.clone()),
            Sink::Result => State::Nothing,
        };
        Ok((layout, state))
    }

    fn source(&self, source: &Source) -> Check<Vec<DataType>> {
        match source {
            Source::Scan(scan) => {
                // The plan does not know the table's types: an output column takes the type of its first use.
                let mut used = vec![DataType::Null; scan.columns.len()];
                scan.filters.iter().try_for_each(|it| learn(it, &mut used))?;
                scan.filters.iter().try_for_each(|it| self.expr(it, &used))?;
                for transfer in &scan.transfers {
                    if transfer.column >= scan.columns.len() {
                        return Err("a transfer tests a column that is not scanned".to_owned());
                    }
                    if transfer.key >= self.table(transfer.build)?.0.len() {
                        return Err("a transfer needs a key of its table".to_owned());
                    }
                }
                let types = scan.output.iter().map(|it| used.get(*it).copied());
                let types: Option<Vec<DataType>> = types.collect();
                types.ok_or_else(|| "a scan hands on a column that it does not read".to_owned())
            }
            Source::Read(from) => {
                let Some((first, rest)) = from.split_first() else {
                    return Err("it reads nothing".to_owned());
                };
                let types = self.rows(*first)?;
                for other in rest {
                    same("states read one after the other", types, self.rows(*other)?)?;
                }
                Ok(types.to_vec())
            }
            Source::BuildRows { build, .. } => Ok(self.table(*build)?.1.to_vec()),
            Source::Values { types, rows } => {
                for row in rows {
                    self.exprs(row, &[])?;
                    same("constant rows", types, &types_of(row))?;
                }
                Ok(types.clone())
            }
        }
    }

    fn operator(&self, operator: &Operator, layout: Vec<DataType>) -> Check<Vec<DataType>> {
        match operator {
            Operator::Filter(expr) => {
                self.expr(expr, &layout)?;
                match expr.data_type {
                    DataType::Boolean | DataType::Null => Ok(layout),
                    other => Err(format!("a filter by {other}")),
                }
            }
            Operator::Project(exprs) => {
                self.exprs(exprs, &layout)?;
                Ok(types_of(exprs))
            }
            Operator::Join(join) => self.join(join, layout),
            Operator::Fetch(fetch) => self.fetch(fetch, layout),
            Operator::Repeat { count, numbered, kept, items } => match layout.get(*count) {
                Some(DataType::BigInt) => {
                    let number = numbered.then_some(DataType::BigInt);
                    let item = |it: &usize| layout.get(*it).and_then(|it| it.element());
                    let items: Option<Vec<DataType>> = items.iter().map(item).collect();
                    let items = items.ok_or("items of what is no array")?;
                    let kept = kept.iter().map(|it| layout.get(*it).copied());
                    let kept: Option<Vec<DataType>> = kept.collect();
                    let kept = kept.ok_or("a column that is not there is handed on")?;
                    Ok(kept.into_iter().chain(number).chain(items).collect())
                }
                other => Err(format!("rows are repeated by {other:?}")),
            },
        }
    }

    fn join(&self, join: &Join, mut layout: Vec<DataType>) -> Check<Vec<DataType>> {
        let (keys, payload) = self.table(join.build)?;
        self.exprs(&join.keys, &layout)?;
        same("join keys", keys, &types_of(&join.keys))?;
        let input = layout.len();
        layout.extend(payload);
        if let Some(residual) = &join.residual {
            self.expr(residual, &layout)?;
        }
        match join.kind {
            JoinKind::Inner | JoinKind::Left => {}
            JoinKind::Mark { .. } => {
                layout.truncate(input);
                layout.push(DataType::Boolean);
            }
            _ => layout.truncate(input),
        }
        if join.kind == JoinKind::MarkBuild && !join.output.is_empty() {
            return Err("a join that only marks has columns".to_owned());
        }
        if join.numbers && join.kind != JoinKind::Inner {
            return Err("only an inner join has a partner to number".to_owned());
        }
        let columns = join.output.iter().map(|it| layout.get(*it).copied());
        let types: Option<Vec<DataType>> =
            columns.chain(join.numbers.then_some(Some(DataType::BigInt))).collect();
        types.ok_or_else(|| "a join hands on a column that it does not have".to_owned())
    }

    fn fetch(&self, fetch: &Fetch, mut layout: Vec<DataType>) -> Check<Vec<DataType>> {
        let payload = self.table(fetch.build)?.1;
        match layout.get(fetch.row) {
            Some(found) => same("numbers of rows", &[DataType::BigInt], &[*found])?,
            None => return Err("a fetch by a column that is not there".to_owned()),
        }
        let types: Option<Vec<DataType>> =
            fetch.payload.iter().map(|it| payload.get(*it).copied()).collect();
        layout.extend(types.ok_or_else(|| "a fetch of what is not stored".to_owned())?);
        Ok(layout)
    }

    fn exprs(&self, exprs: &[Expr], layout: &[DataType]) -> Check<()> {
        exprs.iter().try_for_each(|it| self.expr(it, layout))
    }

    fn expr(&self, expr: &Expr, layout: &[DataType]) -> Check<()> {
        match &expr.kind {
            ExprKind::Column(place) => {
                let Some(found) = layout.get(*place) else {
                    return Err(format!("column {place} of a layout of {}", layout.len()));
                };
                same("a column", &[expr.data_type], &[*found])?;
            }
            ExprKind::Scalar(id) => match self.rows(*id)? {
                [found] => same("a scalar", &[expr.data_type], &[*found])?,
                other => return Err(format!("a scalar of {} columns", other.len())),
            },
            _ => {}
        }
        expr.children().into_iter().try_for_each(|it| self.expr(it, layout))
    }
}

fn types_of(exprs: &[Expr]) -> Vec<DataType> {
    exprs.iter().map(|it| it.data_type).collect()
}

/// Notes the types under which an expression uses columns of unknown type.
fn learn(expr: &Expr, types: &mut [DataType]) -> Check<()> {
    if let ExprKind::Column(place) = expr.kind {
        let count = types.len();
        let Some(known) = types.get_mut(place) else {
            return Err(format!("column {place} of a scan of {count}"));
        };
        if *known == DataType::Null {
            *known = expr.data_type;
        }
    }
    expr.children().into_iter().try_for_each(|it| learn(it, types))
}
