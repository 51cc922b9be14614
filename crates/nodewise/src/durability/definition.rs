//! Tables without their rows, as the log and checkpoints keep them: a form of its own, so that neither other names in the
//! code nor another machine make an old folder unreadable.
//!
//! Key decision: nodes that a machine does not have are left out when a table is read, since where it lies is a wish and
//! what it holds is not.

use hardware::{NodeId, Topology};
use serde::{Deserialize, Serialize};
use stdx::sync::Arc;
use storage::{
    ColumnSchema, IndexKind, Partitioning, PlaceTarget, Placement, Preference, Rules, Table,
    TableDesign, TableIndex,
};
use types::numeric::interval_text::{Fields, Unit};
use types::numeric::number::Limits;
use types::{
    CheckRule, ColumnId, DataType, Deferral, DomainColumn, FieldsColumn, ForeignKey, Generated,
    Identity, IndexMethod, IndexOrder, ReferentialAction, RowRules, SqlError, SqlResult, SqlState,
    Value,
};

use crate::reshape::Reshape;

/// A table.
#[derive(Serialize, Deserialize)]
pub(crate) struct TableForm {
    pub(crate) name: String,
    columns: Vec<(String, DataType, bool)>,
    parts: PartsForm,
    part_nodes: Vec<u16>,
    /// The turns in which parts were dealt to them, where those are not their numbers.
    #[serde(default)]
    part_turns: Vec<u32>,
    base: PlacementForm,
    wishes: Vec<(TargetForm, PlacementForm, bool)>,
    rules: RulesForm,
}

/// Keys, indexes, defaults and CHECK constraints.
#[derive(Serialize, Deserialize)]
pub(crate) struct RulesForm {
    indexes: Vec<(String, Vec<u16>, KindForm)>,
    /// Numbers of keys that may be broken for a while, and whether they may where nobody says otherwise.
    #[serde(default)]
    deferrable: Vec<(usize, bool)>,
    /// Numbers of keys in which NULL is like NULL.
    #[serde(default)]
    nulls_equal: Vec<usize>,
    /// Numbers of indexes that include further columns, and these.
    #[serde(default)]
    included: Vec<(usize, Vec<u16>)>,
    /// Numbers of indexes that have a column in another order than the usual one, and the orders of all of its columns.
    #[serde(default)]
    orders: Vec<(usize, Vec<u8>)>,
    /// Numbers of indexes that were made USING inverted.
    #[serde(default)]
    inverted: Vec<usize>,
    /// Numbers of indexes that were made USING hash.
    #[serde(default)]
    hash: Vec<usize>,
    defaults: Vec<Option<String>>,
    checks: Vec<(String, String)>,
    /// Numbers of checks that are known of new rows only.
    #[serde(default)]
    open_checks: Vec<usize>,
    /// Columns, and whether they are GENERATED ALWAYS.
    #[serde(default)]
    identities: Vec<(u16, bool)>,
    /// Columns that are generated of others, and whether they are STORED.
    #[serde(default)]
    generated: Vec<(u16, bool)>,
    /// Columns that are of domains.
    #[serde(default)]
    domains: Vec<(u16, String)>,
    /// Columns whose types say fields and digits: the first and the last field, the digits of times and those of numbers.
    #[serde(default)]
    fields: Vec<FieldsForm>,
    references: Vec<ReferenceForm>,
}

/// A foreign key: its actions by name.
#[derive(Serialize, Deserialize)]
struct ReferenceForm {
    name: String,
    columns: Vec<u16>,
    parent: String,
    parent_columns: Vec<String>,
    on_delete: String,
    on_update: String,
    #[serde(default)]
    is_full: bool,
    /// Whether it can be deferred, and whether it is where nobody says otherwise.
    #[serde(default)]
    deferral: (bool, bool),
    #[serde(default)]
    not_valid: bool,
}

#[derive(Serialize, Deserialize)]
enum KindForm {
    PrimaryKey,
    UniqueKey,
    UniqueIndex,
    Index,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum PartsForm {
    None,
    Hash(Vec<u16>, usize),
    Range(u16, Vec<ValueForm>),
    RoundRobin(usize),
}

/// A value. Numbers that JSON cannot hold exactly are texts and bits.
#[derive(Serialize, Deserialize)]
pub(crate) enum ValueForm {
    Boolean(bool),
    Integer(i64),
    Float(u64),
    Decimal(String, u8),
    Date(i32),
    Timestamp(i64),
    Text(String),
}

#[derive(Serialize, Deserialize)]
pub(crate) enum PlacementForm {
    Auto,
    RoundRobin(Vec<u16>),
    IndexVector(Vec<u16>),
    Parts(Vec<u16>),
    Interleaved(Vec<u16>),
    Replicated(Vec<u16>),
    Os,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum TargetForm {
    Table,
    Column(u16),
    Part(usize),
    Rows(u64, u64),
}

/// A [`Reshape`].
#[derive(Serialize, Deserialize)]
pub(crate) enum ReshapeForm {
    Place(TargetForm, PlacementForm, bool),
    FollowDeferred,
    Partition(PartsForm, Vec<u16>),
    MergePart(usize),
    SplitPart(ValueForm),
    Merge,
}

/// What a form says that cannot be.
pub(crate) fn malformed(what: impl std::fmt::Display) -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, format!("what was stored cannot be read: {what}"))
}

impl TableForm {
    pub(crate) fn of(table: &Table) -> SqlResult<Self> {
        let columns = table.schema().into_iter().map(|it| (it.name, it.data_type, it.nullable));
        let preference = table.preference();
        let wish = |it: &storage::Wish| {
            (TargetForm::of(&it.target), PlacementForm::of(&it.placement), it.deferred)
        };
        Ok(Self {
            name: table.name.clone(),
            columns: columns.collect(),
            parts: PartsForm::of(table.partitioning())?,
            part_nodes: numbers(&table.design().part_nodes),
            part_turns: table.design().part_turns.clone(),
            base: PlacementForm::of(preference.base()),
            wishes: preference.wishes().iter().map(wish).collect(),
            rules: RulesForm::of(table.rules()),
        })
    }

    pub(crate) fn schema(&self) -> Vec<ColumnSchema> {
        let column = |it: &(String, DataType, bool)| ColumnSchema::new(&it.0, it.1, it.2);
        self.columns.iter().map(column).collect()
    }

    pub(crate) fn design(&self, topology: &Topology) -> SqlResult<TableDesign> {
        let partitioning = self.parts.read()?;
        let base = match (self.base.read(topology), &partitioning) {
            // A machine of one node has not cut it; on one of several it stays in one piece.
            (Placement::Parts(_), Partitioning::None) => Placement::Auto,
            (base, _) => base,
        };
        let mut preference = Preference::new(base);
        for (target, placement, deferred) in &self.wishes {
            preference = preference.with(target.read(), placement.read(topology), *deferred);
        }
        let (part_nodes, part_turns) = (nodes(&self.part_nodes, topology), self.part_turns.clone());
        Ok(TableDesign { partitioning, part_nodes, part_turns, preference })
    }

    pub(crate) fn rules(&self) -> SqlResult<Arc<Rules>> {
        self.rules.read()
    }
}

impl RulesForm {
    pub(crate) fn of(rules: &Rules) -> Self {
        let index = |it: &TableIndex| {
            let kind = match it.kind {
                IndexKind::PrimaryKey => KindForm::PrimaryKey,
                IndexKind::UniqueKey => KindForm::UniqueKey,
                IndexKind::UniqueIndex => KindForm::UniqueIndex,
                IndexKind::Index => KindForm::Index,
            };
            (it.name.to_string(), it.columns.iter().map(|it| it.0).collect(), kind)
        };
        let deferrable = rules.indexes.iter().enumerate();
        let deferrable = deferrable.filter(|it| it.1.deferral != Deferral::None);
        let deferrable = deferrable.map(|it| (it.0, it.1.deferral == Deferral::Deferred));
        let numbered = || rules.indexes.iter().enumerate();
        let nulls_equal = numbered().filter(|it| it.1.nulls_equal).map(|it| it.0);
        let included = numbered().filter(|it| !it.1.included.is_empty());
        let included = included.map(|it| (it.0, it.1.included.iter().map(|it| it.0).collect()));
        let orders = numbered().filter(|it| !it.1.orders.is_empty());
        let orders = orders.map(|it| (it.0, it.1.orders.iter().map(|it| it.bits()).collect()));
        let kept = |by: IndexMethod| numbered().filter(move |it| it.1.method == by).map(|it| it.0);
        let checks = rules.rows.checks.iter().enumerate();
        let open_checks = checks.filter(|it| !it.1.is_validated).map(|it| it.0);
        let text = |it: &Option<Arc<str>>| it.as_ref().map(ToString::to_string);
        let check = |it: &CheckRule| (it.name.to_string(), it.condition.to_string());
        Self {
            indexes: rules.indexes.iter().map(index).collect(),
            deferrable: deferrable.collect(),
            nulls_equal: nulls_equal.collect(),
            included: included.collect(),
            orders: orders.collect(),
            inverted: kept(IndexMethod::Inverted).collect(),
            hash: kept(IndexMethod::Hash).collect(),
            defaults: rules.rows.defaults.iter().map(text).collect(),
            checks: rules.rows.checks.iter().map(check).collect(),
            open_checks: open_checks.collect(),
            identities: rules.rows.identities.iter().map(|it| (it.column.0, it.always)).collect(),
            generated: rules.rows.generated.iter().map(|it| (it.column.0, it.is_stored)).collect(),
            domains: rules
                .rows
                .domains
                .iter()
                .map(|it| (it.column.0, it.domain.to_string()))
                .collect(),
            fields: rules.rows.fields.iter().map(fields_form).collect(),
            references: rules.references.iter().map(ReferenceForm::of).collect(),
        }
    }

    pub(crate) fn read(&self) -> SqlResult<Arc<Rules>> {
        let index = |(name, columns, kind): &(String, Vec<u16>, KindForm)| TableIndex {
            name: name.as_str().into(),
            columns: columns.iter().map(|it| ColumnId(*it)).collect(),
            kind: match kind {
                KindForm::PrimaryKey => IndexKind::PrimaryKey,
                KindForm::UniqueKey => IndexKind::UniqueKey,
                KindForm::UniqueIndex => IndexKind::UniqueIndex,
                KindForm::Index => IndexKind::Index,
            },
            deferral: Deferral::None,
            nulls_equal: false,
            included: Vec::new(),
            orders: Vec::new(),
            method: IndexMethod::default(),
        };
        let check = |(number, it): (usize, &(String, String))| CheckRule {
            name: it.0.as_str().into(),
            condition: it.1.as_str().into(),
            is_validated: !self.open_checks.contains(&number),
        };
        let defaults = self.defaults.iter().map(|it| it.as_deref().map(Arc::from)).collect();
        let identity = |it: &(u16, bool)| Identity { column: ColumnId(it.0), always: it.1 };
        let identities = self.identities.iter().map(identity).collect();
        let made = |it: &(u16, bool)| Generated { column: ColumnId(it.0), is_stored: it.1 };
        let generated = self.generated.iter().map(made).collect();
        let checks = self.checks.iter().enumerate().map(check).collect();
        let of_domain = |it: &(u16, String)| DomainColumn {
            column: ColumnId(it.0),
            domain: it.1.as_str().into(),
        };
        let domains = self.domains.iter().map(of_domain).collect();
        let fields = self.fields.iter().map(read_fields).collect::<SqlResult<_>>()?;
        let rows = RowRules { defaults, checks, identities, generated, domains, fields };
        let references =
            self.references.iter().map(ReferenceForm::read).collect::<SqlResult<_>>()?;
        let mut indexes: Vec<TableIndex> = self.indexes.iter().map(index).collect();
        self.read_orders(&mut indexes)?;
        let missing = || malformed("a key that is not there");
        for number in &self.nulls_equal {
            indexes.get_mut(*number).ok_or_else(missing)?.nulls_equal = true;
        }
        for (number, columns) in &self.included {
            let index = indexes.get_mut(*number).ok_or_else(missing)?;
            index.included = columns.iter().map(|it| ColumnId(*it)).collect();
        }
        for (number, deferred) in &self.deferrable {
            let key = indexes.get_mut(*number).ok_or_else(missing)?;
            key.deferral = if *deferred { Deferral::Deferred } else { Deferral::Deferrable };
        }
        Ok(Arc::new(Rules { indexes, rows: Arc::new(rows), references, ..Rules::default() }))
    }

    /// Gives indexes their orders, and the names of how they are kept.
    fn read_orders(&self, indexes: &mut [TableIndex]) -> SqlResult<()> {
        let missing = || malformed("an index that is not there");
        let order = |bits: &u8| {
            IndexOrder::of_bits(*bits).ok_or_else(|| malformed(format!("an order {bits}")))
        };
        for (number, orders) in &self.orders {
            let index = indexes.get_mut(*number).ok_or_else(missing)?;
            index.orders = orders.iter().map(order).collect::<SqlResult<_>>()?;
        }
        let said = [(&self.inverted, IndexMethod::Inverted), (&self.hash, IndexMethod::Hash)];
        for (numbers, method) in said {
            for number in numbers {
                indexes.get_mut(*number).ok_or_else(missing)?.method = method;
            }
        }
        Ok(())
    }
}

impl ReferenceForm {
    fn of(key: &ForeignKey) -> Self {
        Self {
            name: key.name.to_string(),
            columns: key.columns.iter().map(|it| it.0).collect(),
            parent: key.parent.to_string(),
            parent_columns: key.parent_columns.iter().map(ToString::to_string).collect(),
            on_delete: key.on_delete.name().to_owned(),
            on_update: key.on_update.name().to_owned(),
            is_full: key.is_full,
            deferral: (key.deferral != Deferral::None, key.deferral == Deferral::Deferred),
            not_valid: !key.is_validated,
        }
    }

    fn read(&self) -> SqlResult<ForeignKey> {
        let action = |name: &str| {
            ReferentialAction::named(name).ok_or_else(|| malformed(format!("ON DELETE {name}")))
        };
        Ok(ForeignKey {
            name: self.name.as_str().into(),
            columns: self.columns.iter().map(|it| ColumnId(*it)).collect(),
            parent: self.parent.as_str().into(),
            parent_columns: self.parent_columns.iter().map(|it| it.as_str().into()).collect(),
            on_delete: action(&self.on_delete)?,
            on_update: action(&self.on_update)?,
            is_full: self.is_full,
            deferral: match self.deferral {
                (_, true) => Deferral::Deferred,
                (true, false) => Deferral::Deferrable,
                (false, false) => Deferral::None,
            },
            is_validated: !self.not_valid,
        })
    }
}

impl PartsForm {
    fn of(partitioning: &Partitioning) -> SqlResult<Self> {
        Ok(match partitioning {
            Partitioning::None => Self::None,
            Partitioning::Hash { columns, parts } => {
                Self::Hash(columns.iter().map(|it| it.0).collect(), *parts)
            }
            Partitioning::Range { column, bounds } => {
                Self::Range(column.0, bounds.iter().map(ValueForm::of).collect::<SqlResult<_>>()?)
            }
            Partitioning::RoundRobin { parts } => Self::RoundRobin(*parts),
        })
    }

    fn read(&self) -> SqlResult<Partitioning> {
        Ok(match self {
            Self::None => Partitioning::None,
            Self::Hash(columns, parts) => Partitioning::Hash {
                columns: columns.iter().map(|it| ColumnId(*it)).collect(),
                parts: *parts,
            },
            Self::Range(column, bounds) => Partitioning::Range {
                column: ColumnId(*column),
                bounds: bounds.iter().map(ValueForm::read).collect::<SqlResult<_>>()?,
            },
            Self::RoundRobin(parts) => Partitioning::RoundRobin { parts: *parts },
        })
    }
}

impl ValueForm {
    fn of(value: &Value) -> SqlResult<Self> {
        Ok(match value {
            Value::Null => return Err(SqlError::internal("a part cannot begin at NULL")),
            Value::Boolean(it) => Self::Boolean(*it),
            Value::Integer(it) => Self::Integer(*it),
            Value::Float(it) => Self::Float(it.to_bits()),
            Value::Decimal { unscaled, scale } => Self::Decimal(unscaled.to_string(), *scale),
            Value::Date(it) => Self::Date(*it),
            Value::Timestamp(it) => Self::Timestamp(*it),
            Value::Text(it) => Self::Text(it.to_string()),
        })
    }

    fn read(&self) -> SqlResult<Value> {
        Ok(match self {
            Self::Boolean(it) => Value::Boolean(*it),
            Self::Integer(it) => Value::Integer(*it),
            Self::Float(it) => Value::Float(f64::from_bits(*it)),
            Self::Decimal(unscaled, scale) => {
                Value::Decimal { unscaled: unscaled.parse().map_err(malformed)?, scale: *scale }
            }
            Self::Date(it) => Value::Date(*it),
            Self::Timestamp(it) => Value::Timestamp(*it),
            Self::Text(it) => Value::Text(it.as_str().into()),
        })
    }
}

impl PlacementForm {
    fn of(placement: &Placement) -> Self {
        match placement {
            Placement::Auto => Self::Auto,
            Placement::RoundRobin(it) => Self::RoundRobin(numbers(it)),
            Placement::IndexVector(it) => Self::IndexVector(numbers(it)),
            Placement::Parts(it) => Self::Parts(numbers(it)),
            Placement::Interleaved(it) => Self::Interleaved(numbers(it)),
            Placement::Replicated(it) => Self::Replicated(numbers(it)),
            Placement::Os => Self::Os,
        }
    }

    fn read(&self, topology: &Topology) -> Placement {
        let (make, named): (fn(Vec<NodeId>) -> Placement, _) = match self {
            Self::Auto => return Placement::Auto,
            Self::Os => return Placement::Os,
            Self::RoundRobin(it) => (Placement::RoundRobin, it),
            Self::IndexVector(it) => (Placement::IndexVector, it),
            Self::Parts(it) => (Placement::Parts, it),
            Self::Interleaved(it) => (Placement::Interleaved, it),
            Self::Replicated(it) => (Placement::Replicated, it),
        };
        let found = nodes(named, topology);
        match found.is_empty() && !named.is_empty() {
            true => Placement::Auto,
            false => make(found),
        }
    }
}

impl TargetForm {
    fn of(target: &PlaceTarget) -> Self {
        match target {
            PlaceTarget::Table => Self::Table,
            PlaceTarget::Column(it) => Self::Column(it.0),
            PlaceTarget::Part(it) => Self::Part(*it),
            PlaceTarget::Rows(it) => Self::Rows(it.start, it.end),
        }
    }

    fn read(&self) -> PlaceTarget {
        match self {
            Self::Table => PlaceTarget::Table,
            Self::Column(it) => PlaceTarget::Column(ColumnId(*it)),
            Self::Part(it) => PlaceTarget::Part(*it),
            Self::Rows(start, end) => PlaceTarget::Rows(*start..*end),
        }
    }
}

impl ReshapeForm {
    pub(crate) fn of(step: &Reshape) -> SqlResult<Self> {
        Ok(match step {
            Reshape::Place { target, placement, deferred } => {
                Self::Place(TargetForm::of(target), PlacementForm::of(placement), *deferred)
            }
            Reshape::FollowDeferred => Self::FollowDeferred,
            Reshape::Partition { partitioning, nodes } => {
                Self::Partition(PartsForm::of(partitioning)?, numbers(nodes))
            }
            Reshape::MergePart { first } => Self::MergePart(*first),
            Reshape::SplitPart { at } => Self::SplitPart(ValueForm::of(at)?),
            Reshape::Merge => Self::Merge,
        })
    }

    pub(crate) fn read(&self, topology: &Topology) -> SqlResult<Reshape> {
        Ok(match self {
            Self::Place(target, placement, deferred) => Reshape::Place {
                target: target.read(),
                placement: placement.read(topology),
                deferred: *deferred,
            },
            Self::FollowDeferred => Reshape::FollowDeferred,
            Self::Partition(parts, named) => {
                Reshape::Partition { partitioning: parts.read()?, nodes: nodes(named, topology) }
            }
            Self::MergePart(first) => Reshape::MergePart { first: *first },
            Self::SplitPart(at) => Reshape::SplitPart { at: at.read()? },
            Self::Merge => Reshape::Merge,
        })
    }
}

/// What a column keeps of its values; files of earlier versions do not say digits of numbers.
#[derive(Serialize, Deserialize)]
struct FieldsForm(u16, Option<(String, String)>, Option<u8>, #[serde(default)] Option<(u16, i16)>);

fn fields_form(it: &FieldsColumn) -> FieldsForm {
    let range = it.fields.range.map(|(first, last)| (first.name().into(), last.name().into()));
    let number = it.fields.number.map(|it| (it.precision, it.scale));
    FieldsForm(it.column.0, range, it.fields.digits, number)
}

fn read_fields(FieldsForm(column, range, digits, number): &FieldsForm) -> SqlResult<FieldsColumn> {
    let unit = |name: &String| {
        Unit::of_field(name).ok_or_else(|| malformed(format!("an interval has no {name}")))
    };
    let range = match range {
        Some((first, last)) => Some((unit(first)?, unit(last)?)),
        None => None,
    };
    let number = number.map(|(precision, scale)| Limits { precision, scale });
    let fields = Fields { range, digits: *digits, number };
    Ok(FieldsColumn { column: ColumnId(*column), fields })
}

fn numbers(nodes: &[NodeId]) -> Vec<u16> {
    nodes.iter().map(|it| it.0).collect()
}

/// The nodes of those numbers that this machine has.
fn nodes(numbers: &[u16], topology: &Topology) -> Vec<NodeId> {
    let known = topology.memory_nodes();
    numbers.iter().map(|it| NodeId(*it)).filter(|it| known.contains(it)).collect()
}
