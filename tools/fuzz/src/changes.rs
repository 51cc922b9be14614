//! Random statements that change rows, on Nodewise and on PostgreSQL: what they return, and what they leave. Each runs in a
//! transaction that is rolled back, so that the next finds the tables as they were made.

use crate::ast::{Expr, From, Item, Query, Select};
use crate::case::{self, Case};
use crate::differ::{self, Answers, Differ};
use crate::draw::Draw;
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};
use crate::peers::reply::{Peer, Reply};
use crate::verdict::Verdict;
use crate::world::{Constraint, Table, World};

/// A statement that changes rows.
pub struct Change {
    pub sql: String,
    /// What it computes, as a query.
    pub query: Query,
    /// Statements before it, that make tables which refer to its table, or to which that refers.
    pub before: Vec<String>,
    /// The queries of what is left: of its table, and of those.
    pub looks: Vec<String>,
}

impl Change {
    fn new(sql: String, table: &Table, query: Query) -> Self {
        let looks = vec![format!("SELECT * FROM {}", table.name)];
        Self { sql, query, before: Vec::new(), looks }
    }
}

/// The statement of this number; `None` where what it changes does not follow from the tables alone.
pub fn change(
    seed: u64,
    number: u64,
    world: &World,
    kinds: &[Kind],
    depth: usize,
) -> Option<Change> {
    let mut draw = Draw::new(seed ^ 0xc4a6e, number);
    let table = draw.pick(&world.tables).clone();
    let depth = draw.between(0, depth);
    let kind = draw.below(4);
    let mut generator = Generator::new(draw, world, kinds);
    let mut change = match kind {
        0 => insert(&mut generator, &table, depth),
        1 => update(&mut generator, &table, depth),
        2 => merge(&mut generator, &table, depth),
        _ => delete(&mut generator, &table, depth),
    };
    if generator.draw.chance(50) {
        refer(&mut generator, &table, &mut change);
    }
    if generator.draw.chance(40) {
        generate(&mut generator, &table, &mut change);
    }
    case::is_determined(&change.query).then_some(change)
}

/// Adds columns that are generated of others: one follows a column, one says whether it is NULL.
fn generate(generator: &mut Generator<'_>, table: &Table, change: &mut Change) {
    let name = &table.name;
    let crate::world::Column { name: of, kind, .. } = generator.draw.pick(&table.columns).clone();
    let kept = *generator.draw.pick(&["STORED", "VIRTUAL"]);
    change.before.extend([
        format!("ALTER TABLE {name} ADD COLUMN made {kind} GENERATED ALWAYS AS ({of}) {kept}"),
        format!("ALTER TABLE {name} ADD COLUMN is_null BOOLEAN GENERATED ALWAYS AS ({of} IS NULL) STORED"),
    ]);
}

/// Makes a table of the values of a column, to which it refers, and one that refers to its key, if it has one.
fn refer(generator: &mut Generator<'_>, table: &Table, change: &mut Change) {
    const ACTIONS: [&str; 5] = ["NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"];
    let name = &table.name;
    let mut actions = || {
        let (gone, moved) = (generator.draw.pick(&ACTIONS), generator.draw.pick(&ACTIONS));
        format!("ON DELETE {gone} ON UPDATE {moved}")
    };
    let (up, down) = (actions(), actions());
    // Intervals are no keys.
    let columns: Vec<_> =
        table.columns.iter().filter(|it| it.kind.class() != Class::Interval).collect();
    if generator.draw.chance(60) && !columns.is_empty() {
        let crate::world::Column { name: column, kind, .. } = *generator.draw.pick(&columns);
        change.before.extend([
            format!("CREATE TABLE parents (id {kind} PRIMARY KEY)"),
            format!("INSERT INTO parents SELECT DISTINCT {column} FROM {name} WHERE {column} IS NOT NULL"),
            format!("ALTER TABLE {name} ADD FOREIGN KEY ({column}) REFERENCES parents {up}"),
        ]);
        change.looks.push("SELECT * FROM parents".to_owned());
    }
    if let Some(key) = table.columns.iter().find(is_key) {
        let crate::world::Column { name: column, kind, .. } = key;
        change.before.extend([
            format!(
                "CREATE TABLE children (c {kind} REFERENCES {name} ({column}) {down}, n INTEGER)"
            ),
            format!("INSERT INTO children SELECT {column}, 1 FROM {name}"),
            format!("INSERT INTO children SELECT {column}, 2 FROM {name}"),
        ]);
        change.looks.push("SELECT * FROM children".to_owned());
    }
}

fn is_key(column: &&crate::world::Column) -> bool {
    matches!(column.constraint, Constraint::Unique | Constraint::PrimaryKey)
}

fn scope(table: &Table, alias: &str) -> Scope {
    let column = |it: &crate::world::Column| Expr::column(alias, &it.name, it.kind);
    Scope { leaves: table.columns.iter().map(column).collect(), ..Scope::default() }
}

/// A query of a table with a condition and a list.
fn of_table(table: &Table, alias: &str, filter: Option<Expr>, list: Vec<Expr>) -> Query {
    let items = match list.is_empty() {
        true => vec![Item::Star],
        false => list.into_iter().map(|it| Item::Named(it, "o".to_owned())).collect(),
    };
    let from = Some(From::Table(table.name.clone(), alias.to_owned()));
    Query::of(Select { items, from, filter, ..Select::default() })
}

fn condition(generator: &mut Generator<'_>, scope: &Scope, depth: usize) -> (Option<Expr>, String) {
    if generator.draw.chance(8) {
        return (None, String::new());
    }
    let filter = generator.predicate(scope, depth);
    let text = format!(" WHERE {filter}");
    (Some(filter), text)
}

fn update(generator: &mut Generator<'_>, table: &Table, depth: usize) -> Change {
    let alias = generator.alias('x');
    let scope = scope(table, &alias);
    let mut places: Vec<usize> = (0..table.columns.len()).collect();
    let first = generator.draw.below(places.len());
    places.swap(0, first);
    places.truncate(generator.draw.between(1, 2));
    let mut list = Vec::new();
    let mut assignments = Vec::new();
    for place in places {
        let column = &table.columns[place];
        let value = generator.expr(column.kind.class(), &scope, depth);
        assignments.push(format!("{} = {value}", column.name));
        list.push(value);
    }
    let (filter, text) = condition(generator, &scope, depth);
    let (name, set) = (&table.name, assignments.join(", "));
    let sql = format!("UPDATE {name} AS {alias} SET {set}{text} RETURNING *");
    Change::new(sql, table, of_table(table, &alias, filter, list))
}

fn delete(generator: &mut Generator<'_>, table: &Table, depth: usize) -> Change {
    let alias = generator.alias('x');
    let mut scope = scope(table, &alias);
    let mut using = String::new();
    if generator.draw.chance(25) {
        let other = generator.draw.pick(&generator.world.tables).clone();
        let beside = generator.alias('x');
        scope.leaves.extend(self::scope(&other, &beside).leaves);
        using = format!(" USING {} AS {beside}", other.name);
    }
    let (filter, text) = condition(generator, &scope, depth);
    let name = &table.name;
    let sql = format!("DELETE FROM {name} AS {alias}{using}{text} RETURNING {alias}.*");
    Change::new(sql, table, of_table(table, &alias, filter, Vec::new()))
}

fn insert(generator: &mut Generator<'_>, table: &Table, depth: usize) -> Change {
    let classes: Vec<_> = table.columns.iter().map(|it| it.kind.class()).collect();
    let (query, _) = generator.query(&classes, &[], depth);
    let names: Vec<&str> = table.columns.iter().map(|it| it.name.as_str()).collect();
    let (name, list) = (&table.name, names.join(", "));
    // Which of several new rows with one key is kept follows from nothing, so DO NOTHING is left out.
    let conflict = match table.columns.iter().find(is_key) {
        Some(key) if generator.draw.chance(60) => {
            let column = *generator.draw.pick(&names);
            format!(" ON CONFLICT ({}) DO UPDATE SET {column} = excluded.{column}", key.name)
        }
        _ => String::new(),
    };
    let sql = format!("INSERT INTO {name} ({list}) {query}{conflict} RETURNING *");
    Change::new(sql, table, query)
}

/// A MERGE by columns of one class, so that most rows have few partners.
fn merge(generator: &mut Generator<'_>, table: &Table, depth: usize) -> Change {
    let (alias, beside) = (generator.alias('x'), generator.alias('x'));
    let other = generator.draw.pick(&generator.world.tables).clone();
    let (own, theirs) = (scope(table, &alias), scope(&other, &beside));
    let mut both = own.leaves.clone();
    both.extend(theirs.leaves.clone());
    let both = Scope { leaves: both, ..Scope::default() };
    let column = generator.draw.pick(&table.columns).clone();
    let alike = |it: &&crate::world::Column| it.kind.class() == column.kind.class();
    let partners: Vec<_> = other.columns.iter().filter(alike).collect();
    let on = match partners.is_empty() {
        true => generator.predicate(&both, depth).to_string(),
        false => {
            let partner = generator.draw.pick(&partners);
            format!("{alias}.{} = {beside}.{}", column.name, partner.name)
        }
    };
    let (mut list, mut whens, mut closed) = (Vec::new(), String::new(), [false; 3]);
    for _ in 0..generator.draw.between(1, 4) {
        let side = generator.draw.below(3);
        if closed[side] {
            continue;
        }
        let words = ["MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"][side];
        let scope = [&both, &theirs, &own][side];
        whens += &format!(" WHEN {words}");
        closed[side] = generator.draw.chance(40);
        if !closed[side] {
            let condition = generator.predicate(scope, depth);
            whens += &format!(" AND {condition}");
            list.push(condition);
        }
        whens += &format!(" THEN {}", action(generator, table, scope, side == 1, depth, &mut list));
    }
    let (name, source) = (&table.name, &other.name);
    let sql = format!(
        "MERGE INTO {name} AS {alias} USING {source} AS {beside} ON {on}{whens} RETURNING merge_action(), {alias}.*"
    );
    Change::new(sql, table, of_table(table, &alias, None, list))
}

/// What a WHEN does; what it computes goes into a list.
fn action(
    generator: &mut Generator<'_>,
    table: &Table,
    scope: &Scope,
    is_new: bool,
    depth: usize,
    list: &mut Vec<Expr>,
) -> String {
    let mut value = |generator: &mut Generator<'_>, column: &crate::world::Column| {
        let value = generator.expr(column.kind.class(), scope, depth);
        list.push(value.clone());
        value
    };
    match (is_new, generator.draw.below(4)) {
        (_, 0) => "DO NOTHING".to_owned(),
        (true, _) => {
            let values = table.columns.iter().map(|it| value(generator, it).to_string());
            format!("INSERT VALUES ({})", values.collect::<Vec<_>>().join(", "))
        }
        (false, 1) => "DELETE".to_owned(),
        (false, _) => {
            let column = generator.draw.pick(&table.columns).clone();
            format!("UPDATE SET {} = {}", column.name, value(generator, &column))
        }
    }
}

/// What both sides make of a statement.
pub fn verdict<P: Peer>(differ: &mut Differ<P>, world: &World, change: &Change) -> Verdict {
    if let Err(verdict) = differ.load(world) {
        return verdict;
    }
    let case = Case { world: world.clone(), query: change.query.clone() };
    let mut both = |sql: &str| Answers {
        theirs: differ.theirs.peer.run(sql),
        ours: differ.ours.peer.run(sql),
    };
    both("BEGIN");
    for sql in &change.before {
        let made = both(sql);
        if made.ours.state() != made.theirs.state() {
            both("ROLLBACK");
            return Verdict::Wrong(format!(
                "{sql}: {:?}, there {:?}",
                made.ours.state(),
                made.theirs.state()
            ));
        }
    }
    let returned = both(&change.sql);
    let left = match (&returned.ours, &returned.theirs) {
        (Reply::Rows(_), Reply::Rows(_)) => change.looks.iter().map(|it| both(it)).collect(),
        _ => Vec::new(),
    };
    both("ROLLBACK");
    let after = both(&change.looks[0]);
    // What is returned has no order, whatever the query's.
    let unordered =
        Case { query: Query { order: Vec::new(), ..case.query.clone() }, world: case.world };
    let judge = |answers: &Answers| differ::judge(&unordered, answers, true);
    // A key that two rows have at the end is one of two rows here; there, an UPDATE meets it earlier, and so does a MERGE that
    // inserts the key of a row before it deletes that.
    if let (Reply::Rows(_), Some("23505")) = (&returned.ours, returned.theirs.state())
        && !change.sql.contains(" SET ")
        && !change.sql.contains("THEN DELETE")
    {
        return Verdict::Wrong("a key of two rows was taken".to_owned());
    }
    let mut found = judge(&returned);
    for left in &left {
        if found == Verdict::Same {
            found = judge(left);
        }
    }
    match judge(&after) {
        Verdict::Same => found,
        _ => Verdict::Wrong("the rollback left something else".to_owned()),
    }
}
