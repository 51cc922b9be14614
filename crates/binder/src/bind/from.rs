//! FROM: tables, subqueries, WITH queries and joins.
//!
//! What stands left of a lateral subquery is in view for it: while the right side of a join is bound, the level of the
//! SELECT shows the left side.

use plan::build::compare;
use plan::relation::{Apply, Attr, AttrSet, JoinRel, Rel, RelJoin, ScanRel};
use plan::{BinaryOperator, ColumnOrigin, Expr, ExprKind, UnaryOperator};
use sqlparser::ast::{
    self, Ident, JoinConstraint, JoinOperator, ObjectName, TableAlias, TableFactor, TableWithJoins,
};
use types::{DataType, SqlError, SqlResult, SqlState, UnreadColumn, Value, names};

use super::errors::{Name, at, suggested, unsupported};
use super::level::{Clause, Level, apply, one_row, over};
use super::row_functions::is_series;
use super::scope::{Columns, Frame, Meaning, Named, Relation};
use super::{Answer, Binder, mapped};
use crate::resolved::place;
use crate::syntax::ident;

/// Rows and the columns in view over them.
pub(super) type Source = (Rel, Frame);

/// How two sides of a join meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Inner,
    Left,
    Right,
    Full,
    /// Left rows with a partner, as DuckDB writes it.
    Semi,
    /// Left rows without one.
    Anti,
}

impl Kind {
    /// Whether only the columns of the left side come out.
    fn filters(self) -> bool {
        matches!(self, Self::Semi | Self::Anti)
    }
}

impl<'a> Binder<'a> {
    /// Binds a FROM clause; without one there is one row without columns.
    pub(super) fn from(&mut self, tables: &'a [TableWithJoins]) -> SqlResult<Source> {
        let Some((first, others)) = tables.split_first() else {
            return Ok((one_row(), Frame::default()));
        };
        let level = Level::new(Frame::default(), one_row(), Clause::From);
        let (source, _) = self.in_level(level, |this| {
            let mut source = this.joined(first)?;
            for table in others {
                let (right, left) = this.beside_of(source, |this| this.joined(table))?;
                source = this.pairs(left, right, Kind::Inner, Vec::new())?;
            }
            Ok(source)
        })?;
        Ok(source)
    }

    /// All pairs of a table that is changed and of what FROM or USING names beside it, which does not see it.
    pub(super) fn crossed(
        &mut self,
        table: Source,
        others: &'a [TableWithJoins],
    ) -> SqlResult<Source> {
        let others = self.from(others)?;
        self.pairs(table, others, Kind::Inner, Vec::new())
    }

    /// Binds the right side of a join, with the left side in view for what is lateral.
    fn beside_of(
        &mut self,
        (left, frame): Source,
        bind: impl FnOnce(&mut Self) -> SqlResult<Source>,
    ) -> SqlResult<(Source, Source)> {
        let outside = std::mem::take(&mut self.level().frame);
        if outside.is_empty() {
            self.level().frame = frame;
            let right = bind(self);
            let frame = std::mem::replace(&mut self.level().frame, outside);
            return Ok((right?, (left, frame)));
        }
        // A join within a list sees what stands before it in the list, too.
        self.level().frame = outside.clone().beside(frame.clone());
        let right = bind(self);
        self.level().frame = outside;
        Ok((right?, (left, frame)))
    }

    /// Binds something that is not lateral: the relations left of it are out of view.
    fn apart<T>(&mut self, bind: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        let frame = std::mem::take(&mut self.level().frame);
        let bound = bind(self);
        self.level().frame = frame;
        bound
    }

    /// Pairs of two relations, by a dependent join where the right one uses columns of the left one.
    pub(super) fn pairs(
        &self,
        (left, left_frame): Source,
        (right, right_frame): Source,
        kind: Kind,
        on: Vec<Expr>,
    ) -> SqlResult<Source> {
        let frame = match kind.filters() {
            true => left_frame,
            false => left_frame.beside(right_frame),
        };
        if let Some(name) = frame.repeated_name() {
            let message = format!("table name \"{name}\" specified more than once");
            return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message));
        }
        let depends = matches!(right, Rel::Scan(_)).then_some(false);
        let depends = depends.unwrap_or_else(|| right.free_attrs().intersects(&left.attrs()));
        let join = match kind {
            Kind::Inner | Kind::Left if depends => {
                let outer = kind == Kind::Left;
                return Ok((apply(left, right, Apply::Join { outer, on }), frame));
            }
            _ if depends => {
                let message = "a lateral subquery cannot stand on the right of RIGHT, FULL, SEMI or ANTI JOIN";
                return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
            }
            Kind::Inner => RelJoin::Inner,
            Kind::Left | Kind::Right => RelJoin::Left,
            Kind::Full => RelJoin::Full,
            Kind::Semi => RelJoin::Semi,
            Kind::Anti => RelJoin::Anti,
        };
        let (left, right) = if kind == Kind::Right { (right, left) } else { (left, right) };
        let join = JoinRel { residual: on, ..JoinRel::new(join, left, right) };
        Ok((Rel::Join(Box::new(join)), frame))
    }

    fn joined(&mut self, table: &'a TableWithJoins) -> SqlResult<Source> {
        let mut source = self.factor(&table.relation)?;
        for join in &table.joins {
            source = self.join(source, join)?;
        }
        Ok(source)
    }

    fn join(&mut self, left: Source, join: &'a ast::Join) -> SqlResult<Source> {
        use JoinOperator as On;
        if matches!(join.join_operator, On::OuterApply) {
            let right = self.factor(&join.relation)?;
            return self.by_position(left, right);
        }
        let (kind, constraint) = match &join.join_operator {
            On::Join(it) | On::Inner(it) => (Kind::Inner, it),
            On::CrossJoin(JoinConstraint::None) => (Kind::Inner, &JoinConstraint::None),
            On::Left(it) | On::LeftOuter(it) => (Kind::Left, it),
            On::Right(it) | On::RightOuter(it) => (Kind::Right, it),
            On::FullOuter(it) => (Kind::Full, it),
            On::Semi(it) | On::LeftSemi(it) => (Kind::Semi, it),
            On::Anti(it) | On::LeftAnti(it) => (Kind::Anti, it),
            _ => return Err(unsupported("this kind of join", &join.relation)),
        };
        if join.global {
            return Err(unsupported("GLOBAL JOIN", &join.relation));
        }
        let is_cross = matches!(join.join_operator, On::CrossJoin(_));
        let (right, left) = self.beside_of(left, |this| this.factor(&join.relation))?;
        match constraint {
            JoinConstraint::None if is_cross => self.pairs(left, right, kind, Vec::new()),
            JoinConstraint::None => {
                let message = "syntax error: a JOIN needs ON, USING or NATURAL";
                let error = SqlError::new(SqlState::SYNTAX, message);
                Err(at(error.with_hint("write CROSS JOIN for all pairs"), &join.relation))
            }
            // What stands before a comma is no side of the join.
            JoinConstraint::On(condition) => {
                self.apart(|this| this.join_on(left, right, kind, condition))
            }
            JoinConstraint::Using(names) => {
                let mut columns = Vec::with_capacity(names.len());
                for name in names {
                    match &name.0[..] {
                        [part] if part.as_ident().is_some() => columns.extend(part.as_ident()),
                        _ => return Err(unsupported("a qualified name in USING", name)),
                    }
                }
                let columns = columns.into_iter().cloned().collect();
                self.join_using(left, right, kind, columns)
            }
            JoinConstraint::Natural => {
                let (ours, theirs) = (left.1.all(), right.1.all());
                let mut columns: Vec<Ident> = Vec::new();
                for column in ours {
                    let quoted = Ident::with_quote('"', column.name);
                    if theirs.iter().any(|it| it.name == quoted.value) && !columns.contains(&quoted)
                    {
                        columns.push(quoted);
                    }
                }
                if let Some(resolved) = &mut self.resolved {
                    let names = columns.iter().map(|it| it.value.clone()).collect();
                    resolved.natural.insert(place(join), names);
                }
                self.join_using(left, right, kind, columns)
            }
        }
    }

    pub(super) fn join_on(
        &mut self,
        (left, left_frame): Source,
        (right, right_frame): Source,
        kind: Kind,
        condition: &'a ast::Expr,
    ) -> SqlResult<Source> {
        let alone = kind.filters().then(|| left_frame.clone());
        let (_, frame) =
            self.pairs((one_row(), left_frame), (one_row(), right_frame), Kind::Inner, Vec::new())?;
        // Subqueries of the condition are collected, and then joined where their rows come from.
        let level = Level::new(frame, one_row(), Clause::On);
        let (bound, level) = self.in_level(level, |this| this.condition(condition))?;
        let mut on = Vec::new();
        plan::relation::split_conjunction(bound, &mut on);
        let Level { frame, input, .. } = level;
        let nothing = (one_row(), Frame::default());
        let has_subqueries = !matches!(input, Rel::Values { .. });
        let rel = match (has_subqueries, kind) {
            (false, _) => {
                let sides = ((left, Frame::default()), (right, Frame::default()));
                self.pairs(sides.0, sides.1, kind, on)?.0
            }
            (true, Kind::Inner) => {
                let both =
                    self.pairs((left, nothing.1), (right, Frame::default()), kind, vec![])?;
                over(both.0, input).filtered(on)
            }
            (true, Kind::Left) => {
                let right = over(right, input).filtered(on);
                apply(left, right, Apply::Join { outer: true, on: Vec::new() })
            }
            (true, Kind::Right) => {
                let left = over(left, input).filtered(on);
                apply(right, left, Apply::Join { outer: true, on: Vec::new() })
            }
            (true, Kind::Semi | Kind::Anti) => {
                let partners = over(right, input).filtered(on);
                self.with_partner(left, partners, kind == Kind::Semi)
            }
            (true, Kind::Full) => {
                let parts = super::repeated::chain(input.clone())?;
                match self.subqueries_by_side([left.clone(), right.clone()], parts) {
                    Some([left, right]) => {
                        let sides = ((left, Frame::default()), (right, Frame::default()));
                        self.pairs(sides.0, sides.1, kind, on)?.0
                    }
                    None => self.full_over_both([left, right], input, on, condition)?,
                }
            }
        };
        Ok((rel, alone.unwrap_or(frame)))
    }

    /// The rows that have a partner, or those that have none.
    fn with_partner(&mut self, left: Rel, partners: Rel, wanted: bool) -> Rel {
        let mark = self.attribute(DataType::Boolean, true);
        let condition = Expr::literal(Value::Boolean(true), DataType::Boolean);
        let any = Apply::Any { mark, condition, null_as_false: false };
        let found = self.column_expr(mark);
        apply(left, partners, any).filtered(vec![match wanted {
            true => found,
            false => plan::build::unary(UnaryOperator::Not, found),
        }])
    }

    fn join_using(
        &mut self,
        (mut left, left_frame): Source,
        (mut right, right_frame): Source,
        kind: Kind,
        names: Vec<Ident>,
    ) -> SqlResult<Source> {
        let mut on = Vec::with_capacity(names.len());
        let mut merged: Vec<(Named, [Attr; 2])> = Vec::with_capacity(names.len());
        let mut made = Vec::new();
        for name in &names {
            let ours = using_column(&left_frame, name, "left")?;
            let theirs = using_column(&right_frame, name, "right")?;
            let (a, b) = (self.named_column(ours)?, self.named_column(theirs)?);
            let mut both = [a.clone(), b.clone()];
            self.unify(&mut both, "JOIN/USING")?;
            super::json::check_equality(both[0].data_type)?;
            // Beside TEXT a CHAR is compared as one, whatever comes out.
            let types = [a.data_type, b.data_type];
            let is_mixed =
                types.contains(&DataType::Text) && types.iter().any(|it| it.is_blank_padded());
            let (a, b) = match both {
                [one, other] if is_mixed => {
                    let texts = [a, b].map(|it| super::coercion::fold_cast(it, DataType::Text));
                    let [left, right] = texts;
                    on.push(compare(BinaryOperator::Equal, left, right));
                    (one, other)
                }
                [one, other] if super::coercion::has_key(one.data_type) => {
                    let bare = super::coercion::key_of;
                    on.push(compare(BinaryOperator::Equal, bare(one.clone()), bare(other.clone())));
                    // CHAR shows its own blanks; a type that both share is needed where they mix.
                    let own = |it: Expr, shared: Expr| match super::coercion::has_key(it.data_type)
                    {
                        true if kind != Kind::Full => it,
                        _ => shared,
                    };
                    (own(a, one), own(b, other))
                }
                [one, other] => {
                    on.push(compare(BinaryOperator::Equal, one.clone(), other.clone()));
                    (one, other)
                }
            };
            let sides = [(&a, ours, &left_frame), (&b, theirs, &right_frame)];
            let origin = self.merged_origin(name, kind, sides);
            let value = merged_value(kind, (a, ours), (b, theirs));
            let data_type = value.data_type;
            let attr = match plan::relation::bare(&value) {
                Some(attr) if attr == ours || attr == theirs => attr,
                _ => {
                    let attr = self.attribute(data_type, true);
                    made.push((attr, value));
                    attr
                }
            };
            merged.push((Named { name: ident(name), attr, origin }, [ours, theirs]));
        }
        let take = |it: &mut Rel| std::mem::replace(it, one_row());
        let sides = ((take(&mut left), left_frame), (take(&mut right), right_frame));
        let (rel, mut frame) = self.pairs(sides.0, sides.1, kind, on)?;
        if !kind.filters() {
            frame.merge(merged);
        }
        Ok((mapped(rel, made), frame))
    }

    pub(super) fn factor(&mut self, factor: &'a TableFactor) -> SqlResult<Source> {
        if let Some(locked) = self.locked_factor(factor)? {
            return Ok(locked);
        }
        let (rel, frame) = self.whole_factor(factor)?;
        match factor {
            TableFactor::Table { sample: Some(sample), .. }
            | TableFactor::Derived { sample: Some(sample), .. } => {
                Ok((self.sampled(rel, sample)?, frame))
            }
            _ => Ok((rel, frame)),
        }
    }

    /// A relation of FROM without what is drawn of it.
    fn whole_factor(&mut self, factor: &'a TableFactor) -> SqlResult<Source> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample: _,
                index_hints,
            } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => {
                self.named(name, alias.as_ref())
            }
            TableFactor::Table { name, args: Some(args), alias, with_ordinality, .. }
                if args.settings.is_none() =>
            {
                self.function(name, &args.args, *with_ordinality, alias.as_ref())
            }
            TableFactor::Function { name, args, alias, with_ordinality, .. } => {
                self.function(name, args, *with_ordinality, alias.as_ref())
            }
            TableFactor::Derived { lateral, subquery, alias, sample: _ } => {
                let answer = match lateral {
                    true => self.query(subquery)?,
                    false => self.apart(|this| this.query(subquery))?,
                };
                self.derived(answer, alias.as_ref())
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let (rel, frame) = self.joined(table_with_joins)?;
                match alias {
                    None => Ok((rel, frame)),
                    Some(alias) => self.renamed(rel, frame.all(), alias),
                }
            }
            TableFactor::UNNEST {
                alias, array_exprs, with_offset: false, with_ordinality, ..
            } => {
                let arrays = array_exprs.iter().collect();
                self.series_source("unnest", arrays, *with_ordinality, (alias.as_ref(), factor))
            }
            it @ TableFactor::Pivot { .. } => self.pivot(it),
            it @ TableFactor::Unpivot { .. } => self.unpivot(it),
            other => Err(unsupported("this in FROM", other)),
        }
    }

    /// A function in FROM.
    fn function(
        &mut self,
        name: &'a ObjectName,
        arguments: &'a [ast::FunctionArg],
        with_ordinality: bool,
        alias: Option<&'a TableAlias>,
    ) -> SqlResult<Source> {
        let parts = name.0.iter().map(|it| it.as_ident().map(ident));
        let parts = parts.collect::<Option<Vec<_>>>().unwrap_or_default();
        let function = match &parts[..] {
            [function] => function,
            [schema, function] if schema == "pg_catalog" => function,
            _ => return Err(self.no_source(name, arguments)),
        };
        match &**function {
            it if is_series(it) => {
                let arguments = super::named_arguments::plain(arguments, name)?;
                self.series_source(it, arguments, with_ordinality, (alias, name))
            }
            it if super::row_functions::makes_rows(it) => {
                let arguments = super::named_arguments::placed(it, arguments, name)?;
                self.json_source(it, &arguments, with_ordinality, (alias, name))
            }
            // No table is a part of another.
            "pg_partition_ancestors" => self.no_rows(function, with_ordinality, alias),
            crate::own_names::CALL_OF => self.rows_of_functions(name, arguments, alias),
            crate::own_names::ROWS_FROM => self.rows_from(name, arguments, with_ordinality, alias),
            it => self.other_source(name, it, arguments, with_ordinality, alias),
        }
    }

    /// A function that has no rows: the numbers of relations.
    fn no_rows(
        &mut self,
        name: &str,
        with_ordinality: bool,
        alias: Option<&'a TableAlias>,
    ) -> SqlResult<Source> {
        let names = [name, "ordinality"].into_iter().take(1 + usize::from(with_ordinality));
        let mut columns = Vec::new();
        for name in names {
            let attr = self.attribute(DataType::BigInt, true);
            columns.push(super::OutputColumn::made(name, attr));
        }
        let output = columns.iter().map(|it| it.attr).collect();
        let rel = Rel::Values { output, rows: Vec::new() };
        self.called(name.to_owned(), Answer { rel, columns }, alias)
    }

    /// The schema, if one is said, and the name of a relation in it.
    pub(super) fn relation_said(
        &self,
        name: &'a ObjectName,
    ) -> SqlResult<(Option<String>, &'a Ident)> {
        let parts = name.0.iter().map(|it| it.as_ident()).collect::<Option<Vec<_>>>();
        let parts = parts.ok_or_else(|| unsupported("a call in the name of a table", name))?;
        let database = self.environment.catalog.database();
        let said: Vec<String> = parts.iter().map(|it| ident(it)).collect();
        let (schema, _) =
            names::within(said, &name.to_string(), database).map_err(|it| at(it, name))?;
        let own = parts.last().ok_or_else(|| SqlError::internal("a name without parts"))?;
        Ok((schema, own))
    }

    /// A table or a WITH query.
    fn named(&mut self, name: &'a ObjectName, alias: Option<&'a TableAlias>) -> SqlResult<Source> {
        let (schema, table) = self.relation_said(name)?;
        // Files are named in single quotes.
        let is_file = table.quote_style.is_some_and(|it| it == '\'');
        let key = ident(table);
        if schema.is_none()
            && !is_file
            && let Some(place) = self.find_with(&key)
        {
            let answer = self.apart(|this| this.use_with(place))?;
            let named =
                TableAlias { explicit: false, name: table.clone(), columns: Vec::new(), at: None };
            return match alias {
                Some(alias) => self.derived(answer, Some(alias)),
                None => self.derived(answer, Some(&named)),
            };
        }
        // No file is a relation that a view depends on.
        let resolved = if is_file { self.resolved.take() } else { None };
        let found = self.relation(schema.as_deref(), &key).map_err(|it| at(it, name));
        if is_file {
            self.resolved = resolved;
        }
        let (rel, frame) = found?;
        let frame = if is_file && crate::steps::is_rows(&key) {
            frame_of_step(&key, &frame, self.environment.session.step_origins(&key))
        } else {
            frame
        };
        if !is_file && (name.0.len() > 2 || schema.as_deref().is_none_or(|it| it == "pg_temp")) {
            self.note_schema(name, &frame);
        }
        let (rel, frame) = match alias {
            None => (rel, frame),
            Some(alias) => self.renamed(rel, frame.all(), alias)?,
        };
        Ok((rel, if is_file { frame.with_lower_names() } else { frame }))
    }

    /// A table or a view of the catalog.
    pub(super) fn relation(&mut self, schema: Option<&str>, name: &str) -> SqlResult<Source> {
        self.ask_schema(schema);
        let Some(view) = self.environment.catalog.view(schema, name) else {
            let source = self.table(schema, name)?;
            self.ask_to_scan(&source.0);
            return Ok(source);
        };
        let asked = self.ask_to_read(view.id, &view.name);
        let Answer { rel, columns } = self.view(&view)?;
        let number = self.number_of(view.id, &view.name);
        let own =
            (0..).zip(columns).map(|(place, it)| Named::stored(it.name, it.attr, number, place));
        let columns: Vec<Named> = own.collect();
        self.ask_of_view(asked, &columns);
        let columns = Columns::Made(columns);
        let (schema, name) = names::split(&view.name);
        let (name, schema) = (Some(name), Some(schema));
        let rows = rel.attrs();
        Ok((rel, Frame::of(Relation { name, schema, columns, rows })))
    }

    /// A table of the catalog.
    pub(super) fn table(&mut self, schema: Option<&str>, name: &str) -> SqlResult<Source> {
        let catalog = self.environment.catalog;
        let Some(table) = catalog.table(schema, name) else {
            let shown = match schema {
                Some(schema) => format!("{schema}.{name}"),
                None => name.to_owned(),
            };
            let message = format!("relation \"{shown}\" does not exist");
            let error = SqlError::new(SqlState::UNDEFINED_TABLE, message);
            let names = catalog.table_names();
            return Err(suggested(error, name, names.iter().map(String::as_str)));
        };
        let base = self.attributes.len();
        for column in &table.columns {
            self.attribute(column.data_type, column.may_be_null(table.rows));
        }
        let used = table.columns.iter().enumerate().map(|it| (it.1.name.clone(), base + it.0));
        self.note_used(&table.name, used);
        self.note_names_of_functions(&table, base);
        let rows = table.rows as f64;
        let mut columns =
            Columns::Table(table.clone(), base, self.number_of(table.id, &table.name));
        let unread = catalog.unread(table.id);
        if !unread.is_empty() {
            let mut all: Vec<Named> = columns.named().collect();
            for UnreadColumn { name, error } in unread {
                let attr = self.attribute(DataType::Null, true);
                self.unread.push((attr, error));
                all.push(Named::made(name, attr));
            }
            columns = Columns::Made(all);
        }
        let schema = Some(names::schema_of(&table.name));
        let rows_have = AttrSet::of_range(base..base + table.columns.len());
        let name = Some(name.to_owned());
        let relation = Relation { name, schema, columns, rows: rows_have };
        let scan = Rel::Scan(ScanRel { table, base, filters: Vec::new(), rows });
        Ok((scan, Frame::of(relation)))
    }

    pub(super) fn derived(
        &mut self,
        mut answer: Answer,
        alias: Option<&TableAlias>,
    ) -> SqlResult<Source> {
        self.decide_types(&mut answer)?;
        self.apart_columns(&mut answer);
        let columns = answer.columns.into_iter().map(Named::from).collect();
        match alias {
            Some(alias) => self.renamed(answer.rel, columns, alias),
            None => {
                let columns = Columns::Made(columns);
                let rows = answer.rel.attrs();
                let relation = Relation { rows, ..Relation::of(None, columns) };
                Ok((answer.rel, Frame::of(relation)))
            }
        }
    }

    /// Gives each column of an answer an attribute of its own: USING takes one of them away by its attribute.
    fn apart_columns(&mut self, answer: &mut Answer) {
        let (mut seen, mut made) = (AttrSet::default(), Vec::new());
        for column in &mut answer.columns {
            if seen.contains(column.attr) {
                let again = self.column_expr(column.attr);
                column.attr = self.attribute(again.data_type, true);
                made.push((column.attr, again));
            }
            seen.insert(column.attr);
        }
        answer.rel = mapped(answer.rel.take(), made);
    }

    /// A relation under an alias, perhaps with other names for its first columns.
    pub(super) fn renamed(
        &mut self,
        rel: Rel,
        columns: Vec<Named>,
        alias: &TableAlias,
    ) -> SqlResult<Source> {
        if !alias.columns.is_empty() {
            // What was not read stands behind the others, so places say nothing.
            columns.iter().try_for_each(|it| self.readable_column(it.attr).map(drop))?;
        }
        let mut columns: Vec<_> = columns.into_iter().map(super::OutputColumn::from).collect();
        super::names::rename(&mut columns, alias)?;
        let columns = columns.into_iter().map(Named::from);
        let columns = Columns::Made(columns.collect());
        let rows = rel.attrs();
        let relation = Relation { rows, ..Relation::of(Some(ident(&alias.name)), columns) };
        Ok((rel, Frame::of(relation)))
    }
}

/// The columns of a step, of which several may have a name.
fn frame_of_step(name: &str, frame: &Frame, origins: Vec<Option<ColumnOrigin>>) -> Frame {
    let own = |(it, origin): (Named, Option<ColumnOrigin>)| {
        let name = crate::steps::name_of_column(&it.name).to_owned();
        Named { name, attr: it.attr, origin }
    };
    let origins = origins.into_iter().chain(std::iter::repeat(None));
    let columns = frame.all().into_iter().zip(origins).map(own).collect();
    Frame::of_made(name.to_owned(), columns)
}

/// What the name of two columns of USING means; each is an expression over its column.
fn merged_value(kind: Kind, (a, ours): (Expr, Attr), (b, theirs): (Expr, Attr)) -> Expr {
    let is_column = |it: &Expr, of: Attr| plan::relation::bare(it) == Some(of);
    match kind {
        // Of two equal values the one that is a column as it is: to group by that column is to group by the name.
        Kind::Inner if !is_column(&a, ours) && is_column(&b, theirs) => b,
        Kind::Inner | Kind::Left | Kind::Semi | Kind::Anti => a,
        Kind::Right => b,
        Kind::Full => first_of(a, b),
    }
}

fn using_column(frame: &Frame, name: &Ident, side: &str) -> SqlResult<Attr> {
    match frame.find(name) {
        Meaning::Column(attr) => Ok(attr),
        Meaning::Nothing => {
            let message = format!(
                "column \"{}\" specified in USING clause does not exist in {side} table",
                ident(name)
            );
            Err(at(SqlError::new(SqlState::UNDEFINED_COLUMN, message), &Name(name)))
        }
        Meaning::Several => {
            let message = format!(
                "common column name \"{}\" appears more than once in {side} table",
                name.value
            );
            Err(at(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message), &Name(name)))
        }
    }
}

/// The first of two values that is not NULL.
fn first_of(a: Expr, b: Expr) -> Expr {
    let data_type = a.data_type;
    let present = plan::build::unary(plan::UnaryOperator::IsNotNull, a.clone());
    let kind = ExprKind::Case { branches: vec![(present, a)], otherwise: Some(Box::new(b)) };
    Expr { kind, data_type }
}
