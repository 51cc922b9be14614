//! `has_table_privilege()` and its kin.

use ::types::{
    DataType, ObjectKind, Privileges, RoleId, SqlError, SqlResult, SqlState, Value, names,
};

use super::oids;
use super::relations;
use super::shared::schemas;
use super::system_views::numbered_views;
use crate::Session;
use crate::roles::{Authority, columns_of};

/// The function that asks of a column, and that which asks of any.
const COLUMN: &str = "has_column_privilege";
const ANY_COLUMN: &str = "has_any_column_privilege";

/// What stands between the parts of a question about all objects.
const BETWEEN: char = '\0';

/// Whether a role has a right; NULL where that depends on an object that is not known, or there is none.
pub(super) fn asked(
    session: &Session,
    function: &str,
    arguments: &[Value],
) -> Option<SqlResult<(Value, DataType)>> {
    if function == COLUMN {
        let (user, object, column, right) = match arguments {
            [object, column, right] => (None, object, column, right),
            [user, object, column, right] => (Some(user), object, column, right),
            _ => return None,
        };
        let told = match right {
            Value::Text(right) => column_answer(session, (user, object, column), right),
            _ => Ok(None),
        };
        return Some(told.map(|it| (it.map_or(Value::Null, Value::Boolean), DataType::Boolean)));
    }
    let (object, right, user) = match arguments {
        [object, right] => (object, right, None),
        [user, object, right] => (object, right, Some(user)),
        _ => return None,
    };
    if let Some(of) = OfEverybody::named(function) {
        let told = of.answer(session, (user, object), right);
        return Some(told.map(|it| (it.map_or(Value::Null, Value::Boolean), DataType::Boolean)));
    }
    let told = match right {
        Value::Text(right) => answer(session, function, (user, object), right),
        _ => Ok(None),
    };
    Some(told.map(|it| (it.map_or(Value::Null, Value::Boolean), DataType::Boolean)))
}

/// What everybody may use, as long as it is there.
#[derive(Clone, Copy, PartialEq)]
enum OfEverybody {
    Type,
    Function,
}

impl OfEverybody {
    fn named(function: &str) -> Option<Self> {
        match function {
            "has_type_privilege" => Some(Self::Type),
            "has_function_privilege" => Some(Self::Function),
            _ => None,
        }
    }

    /// Whether a role has a right to it; to grant it is for superusers. Errors: 42704 and 42883 where it is not there, 22023 for
    /// other rights.
    fn answer(
        self,
        session: &Session,
        (user, object): (Option<&Value>, &Value),
        rights: &Value,
    ) -> SqlResult<Option<bool>> {
        let Some(own) = authority(session, user)? else { return Ok(None) };
        let Value::Text(rights) = rights else { return Ok(None) };
        let word = match self {
            Self::Type => "USAGE",
            Self::Function => "EXECUTE",
        };
        let mut has = false;
        for right in rights.split(',').map(str::trim) {
            has |= match right.to_ascii_uppercase().strip_prefix(word).map(str::trim) {
                Some("") => true,
                Some("WITH GRANT OPTION") => own.is_superuser(),
                _ => {
                    let message = format!("unrecognized privilege type: \"{right}\"");
                    return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
                }
            };
        }
        let is_there = match object {
            Value::Integer(number) => self.has_number(session, *number),
            Value::Text(name) if self.has_name(session, name) => true,
            Value::Text(name) => {
                let (what, state) = match self {
                    Self::Type => ("type", SqlState::UNDEFINED_OBJECT),
                    Self::Function => ("function", SqlState::UNDEFINED_FUNCTION),
                };
                return Err(SqlError::new(state, format!("{what} \"{name}\" does not exist")));
            }
            _ => false,
        };
        Ok(is_there.then_some(has))
    }

    fn has_number(self, session: &Session, number: i64) -> bool {
        match self {
            Self::Type => super::types::all_names(session).iter().any(|it| it.0 == number),
            Self::Function => {
                super::functions::names_of(session, false).iter().any(|it| it.0 == number)
            }
        }
    }

    fn has_name(self, session: &Session, name: &str) -> bool {
        match self {
            Self::Type => super::types::number_of(session, name.trim()).is_some(),
            Self::Function => super::functions::number_called(session, name).is_some(),
        }
    }
}

fn answer(
    session: &Session,
    function: &str,
    (user, object): (Option<&Value>, &Value),
    right: &str,
) -> SqlResult<Option<bool>> {
    let Some(own) = authority(session, user)? else { return Ok(None) };
    let wanted = Wanted::of(function, right)?;
    match wanted {
        Wanted::Role(kind) => {
            if own.is_superuser() {
                return Ok(Some(true));
            }
            Ok(role_of(session, object)?.map(|it| kind.is_so(&own, it)))
        }
        Wanted::Rights(kind, rights) => {
            if own.is_superuser() && matches!(object, Value::Null) {
                return Ok(Some(true));
            }
            let object = object_of(session, kind, object)?;
            let of_any = function == ANY_COLUMN;
            Ok(object.map(|name| {
                rights.iter().any(|it| {
                    may(&own, kind, &name, *it) || of_any && may_any_column(&own, &name, *it)
                })
            }))
        }
    }
}

/// Whether a role has a right to a column, by name or by place. Errors: 42703.
fn column_answer(
    session: &Session,
    (user, object, column): (Option<&Value>, &Value, &Value),
    right: &str,
) -> SqlResult<Option<bool>> {
    let Some(own) = authority(session, user)? else { return Ok(None) };
    let Wanted::Rights(kind, rights) = Wanted::of(COLUMN, right)? else { return Ok(None) };
    let Some(name) = object_of(session, kind, object)? else { return Ok(None) };
    let all = columns_of(&own.snapshot, &name);
    // Columns of the catalog are for whoever reads its relations.
    let is_known = own.snapshot.kind_of(&name).is_some();
    let column = match column {
        Value::Text(column) if is_known && !all.iter().any(|it| it.1 == **column) => {
            let relation = names::bare(&name);
            let message = format!("column \"{column}\" of relation \"{relation}\" does not exist");
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
        }
        Value::Text(column) => column.to_string(),
        Value::Integer(number) => {
            let found = all.into_iter().find(|it| it.0 as i64 + 1 == *number);
            let Some(found) = found else { return Ok(None) };
            found.1
        }
        _ => return Ok(None),
    };
    Ok(Some(rights.iter().any(|it| may_column(&own, &name, &column, *it))))
}

fn may_column(
    own: &Authority,
    name: &str,
    column: &str,
    (right, is_option): (Privileges, bool),
) -> bool {
    match is_option {
        true => own.is_superuser() || own.grantor_of_column(name, column).1.has(right),
        false => own.may_columns(name, right, &[column.to_owned()]),
    }
}

fn may_any_column(own: &Authority, name: &str, right: (Privileges, bool)) -> bool {
    let all = columns_of(&own.snapshot, name);
    all.iter().any(|it| may_column(own, name, &it.1, right))
}

/// The columns with a right of a relation to which as a whole there is none, by their places.
fn columns_with(own: &Authority, name: &str, rights: &[(Privileges, bool)]) -> Vec<i64> {
    let all = columns_of(&own.snapshot, name).into_iter();
    let has =
        |it: &(usize, String)| rights.iter().any(|right| may_column(own, name, &it.1, *right));
    all.filter(has).map(|it| it.0 as i64 + 1).collect()
}

/// The numbers of all objects with a right, for a question that binding has put together of its parts.
pub(super) fn numbers(
    session: &Session,
    question: &str,
) -> Option<Vec<(i64, Option<i64>, String)>> {
    let mut parts = question.split(BETWEEN);
    let (function, user, right) = (parts.next()?, parts.next()?, parts.next()?);
    let user = Value::Text(user.into());
    let user = (user != Value::Text("".into())).then_some(&user);
    let own = authority(session, user).ok()??;
    let numbers: Vec<(i64, Option<i64>)> = match Wanted::of(function, right).ok()? {
        Wanted::Role(kind) => {
            let all = own.snapshot.roles().into_iter().filter(|it| kind.is_so(&own, it.id));
            all.map(|it| (i64::from(it.id.0), None)).collect()
        }
        Wanted::Rights(kind, rights) => {
            let all = match kind {
                ObjectKind::Schema => schemas(session).into_iter().map(|it| (it.1, it.0)).collect(),
                ObjectKind::Database => vec![(oids::DATABASE, String::new())],
                _ => all_relations(session),
            };
            let mut found = Vec::new();
            for (number, name) in &all {
                if rights.iter().any(|right| may(&own, kind, name, *right)) {
                    found.push((*number, None));
                } else if function == COLUMN {
                    let columns = columns_with(&own, name, &rights).into_iter();
                    found.extend(columns.map(|it| (*number, Some(it))));
                } else if function == ANY_COLUMN
                    && rights.iter().any(|right| may_any_column(&own, name, *right))
                {
                    found.push((*number, None));
                }
            }
            found
        }
    };
    Some(numbers.into_iter().map(|it| (it.0, it.1, "t".to_owned())).collect())
}

/// What is asked for.
enum Wanted {
    Role(Membership),
    /// Each right, and whether it is that to give it on.
    Rights(ObjectKind, Vec<(Privileges, bool)>),
}

#[derive(Clone, Copy)]
enum Membership {
    Usage,
    Member,
    Set,
}

impl Membership {
    fn is_so(self, own: &Authority, role: RoleId) -> bool {
        match self {
            Self::Usage => own.has_role(role),
            Self::Member => own.is_member(role),
            Self::Set => own.may_become(role),
        }
    }
}

impl Wanted {
    fn of(function: &str, right: &str) -> SqlResult<Self> {
        let unknown = |it: &str| {
            let message = format!("unrecognized privilege type: \"{it}\"");
            SqlError::new(SqlState::INVALID_PARAMETER, message)
        };
        if function == "pg_has_role" {
            let kind = right.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            return match &*kind {
                "usage" => Ok(Self::Role(Membership::Usage)),
                "member" => Ok(Self::Role(Membership::Member)),
                "set" => Ok(Self::Role(Membership::Set)),
                _ => Err(unknown(right)),
            };
        }
        let kind = match function {
            "has_schema_privilege" => ObjectKind::Schema,
            "has_database_privilege" => ObjectKind::Database,
            "has_sequence_privilege" => ObjectKind::Sequence,
            _ => ObjectKind::Relation,
        };
        let each = |it: &str| {
            let upper = it.trim().to_ascii_uppercase();
            let (name, is_option) = match upper.strip_suffix(" WITH GRANT OPTION") {
                Some(name) => (name, true),
                None => (upper.as_str(), false),
            };
            let all = match function {
                COLUMN | ANY_COLUMN => Privileges::ON_COLUMNS,
                _ => kind.all(),
            };
            let right = Privileges::named(name.trim()).filter(|it| all.has(*it));
            right.map(|it| (it, is_option)).ok_or_else(|| unknown(it.trim()))
        };
        Ok(Self::Rights(kind, right.split(',').map(each).collect::<SqlResult<_>>()?))
    }
}

fn may(
    own: &Authority,
    kind: ObjectKind,
    name: &str,
    (right, is_option): (Privileges, bool),
) -> bool {
    let kind = match own.snapshot.sequence(name) {
        Some(_) if kind == ObjectKind::Relation => ObjectKind::Sequence,
        _ => kind,
    };
    match is_option {
        true => own.is_superuser() || own.grantor((kind, name)).1.has(right),
        false => own.may((kind, name), right),
    }
}

/// What the role may that is asked about: who asks, where none is said.
fn authority(session: &Session, user: Option<&Value>) -> SqlResult<Option<Authority>> {
    let Some(user) = user else { return Ok(Some(session.authority())) };
    let id = match user {
        Value::Text(name) if &**name == "public" => Some(RoleId::PUBLIC),
        other => role_of(session, other)?,
    };
    Ok(id.map(|it| Authority::of(session.rights_snapshot(), it)))
}

fn role_of(session: &Session, role: &Value) -> SqlResult<Option<RoleId>> {
    match role {
        Value::Text(name) => session.existing_role(name).map(|it| Some(it.id)),
        Value::Integer(number) => Ok(u32::try_from(*number).ok().map(RoleId)),
        _ => Ok(None),
    }
}

/// The name of an object by its name or number. Errors: 42P01 and 3F000.
fn object_of(session: &Session, kind: ObjectKind, object: &Value) -> SqlResult<Option<String>> {
    Ok(match (kind, object) {
        // There is one, whatever it is called.
        (ObjectKind::Database, _) => Some(String::new()),
        (_, Value::Null) => None,
        (ObjectKind::Schema, Value::Text(name)) => {
            let found = schemas(session).into_iter().find(|it| it.0 == **name);
            Some(found.ok_or_else(|| crate::search_path::no_schema(name))?.0)
        }
        (ObjectKind::Schema, Value::Integer(number)) => {
            schemas(session).into_iter().find(|it| it.1 == *number).map(|it| it.0)
        }
        (_, Value::Text(name)) => {
            let (schema, bare) = binder::sequence_names::relation_in(name)?;
            let found = relations::number_of(session, schema.as_deref(), &bare);
            let Some(found) = found else {
                let within = schema.as_deref().unwrap_or(super::CATALOG);
                let mut of_system = numbered_views();
                let of_system = of_system.find(|it| it.1 == within && it.2 == bare);
                return of_system.map(|it| Some(names::joined(it.1, it.2))).ok_or_else(|| {
                    let message = format!("relation \"{name}\" does not exist");
                    SqlError::new(SqlState::UNDEFINED_TABLE, message)
                });
            };
            named(session, found)
        }
        (_, Value::Integer(number)) => named(session, *number),
        _ => None,
    })
}

fn named(session: &Session, number: i64) -> Option<String> {
    all_relations(session).into_iter().find(|it| it.0 == number).map(|it| it.1)
}

/// The relations of users and of the system, by their numbers.
fn all_relations(session: &Session) -> Vec<(i64, String)> {
    let of_system = numbered_views().map(|it| (it.0, names::joined(it.1, it.2)));
    relations::numbered(&session.snapshot()).into_iter().chain(of_system).collect()
}
