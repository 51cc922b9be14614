//! The settings of a whole database: how many queries run at a time, and where classes of them run.

use std::path::PathBuf;

use hardware::NodeId;
use stdx::Bytes;
use stdx::sync::atomic::Ordering;
use types::SqlResult;

use crate::Database;
use crate::database::usable;
use crate::durability::CUT_FROM;
use crate::placer::PlacerMode;
use crate::scheduling::{invalid, is_default, node_list, node_text};
use crate::setting::Setting;

const MAX_RUNNING: &str = "max_running_queries";
const CLASS_NODES: &str = "class_nodes";
const PLACER: &str = "placer";
const TEMP_DIRECTORY: &str = "temp_directory";
const CHECKPOINT_LOG_SIZE: &str = "checkpoint_log_size";
const TOTAL_MEMORY_LIMIT: &str = "total_memory_limit";

/// Changes a setting of the whole database; false when the name, in lower case, is none.
pub fn set_of_database(database: &Database, name: &str, value: Option<&str>) -> SqlResult<bool> {
    let value = value.filter(|it| !is_default(it));
    match name {
        MAX_RUNNING => {
            let wanted = "a number from 1 on, or 0 or DEFAULT for no limit";
            let limit = match value.map(str::parse::<usize>) {
                None | Some(Ok(0)) => None,
                Some(Ok(limit)) => Some(limit),
                Some(Err(_)) => return Err(invalid(name, value.unwrap_or(""), wanted)),
            };
            database.statements.admission.set_limit(limit);
        }
        CLASS_NODES => {
            let wanted = "classes and their nodes, as in '200: 2-3; 0: 0'";
            let text = value.unwrap_or("");
            let classes = class_nodes(text).ok_or_else(|| invalid(name, text, wanted))?;
            let has_any = &database.statements.has_class_nodes;
            has_any.store(!classes.is_empty(), Ordering::Relaxed);
            *database.statements.class_nodes.lock() = classes;
        }
        TOTAL_MEMORY_LIMIT => {
            let wanted = "a size as 512MB or 4GB, or DEFAULT for what the machine has";
            let limit = match value {
                None => usable(database.machine.topology()),
                Some(text) => Some(
                    Bytes::of_setting(text)
                        .filter(|it| it.0 > 0)
                        .ok_or_else(|| invalid(name, text, wanted))?,
                ),
            };
            database.allocator.set_limit(limit);
        }
        CHECKPOINT_LOG_SIZE => {
            let wanted = "a size as 16MB or 1GB, or DEFAULT for 64MB";
            let size = value.map_or(Some(Bytes(CUT_FROM)), Bytes::of_setting).filter(|it| it.0 > 0);
            let size = size.ok_or_else(|| invalid(name, value.unwrap_or(""), wanted))?;
            if let Some(durability) = database.durability.get() {
                durability.cut_from.store(size.0, Ordering::Relaxed);
            }
        }
        TEMP_DIRECTORY => {
            database.allocator.set_temporary_folder(value.map(PathBuf::from));
        }
        PLACER => {
            let mode = match value {
                None => PlacerMode::default(),
                Some(word) => PlacerMode::named(word)
                    .ok_or_else(|| invalid(name, word, "off, advise or on"))?,
            };
            database.placer.set_mode(mode);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The settings of the whole database.
pub fn list_of_database(database: &Database) -> Vec<Setting> {
    let limit = database.statements.admission.limit().unwrap_or(0);
    let durability = database.durability.get();
    let cut_from = durability.map(|it| Bytes(it.cut_from.load(Ordering::Relaxed)));
    let classes = database.statements.class_nodes.lock();
    let class = |it: &(u8, Vec<NodeId>)| format!("{}: {}", it.0, node_text(&it.1));
    vec![
        Setting {
            name: MAX_RUNNING,
            value: limit.to_string(),
            description: "queries that run at a time in the whole database, others wait; 0 for no limit",
        },
        Setting {
            name: CLASS_NODES,
            value: classes.iter().map(class).collect::<Vec<_>>().join("; "),
            description: "query classes of the whole database that run on certain nodes only",
        },
        Setting {
            name: TOTAL_MEMORY_LIMIT,
            value: database
                .allocator
                .limit()
                .map_or_else(|| "none".to_owned(), Bytes::setting_text),
            description: "memory that tables and statements of the whole database may take together",
        },
        Setting {
            name: CHECKPOINT_LOG_SIZE,
            value: cut_from.map_or_else(|| "none".to_owned(), Bytes::setting_text),
            description: "bytes of the log from which on a checkpoint is made; none in memory",
        },
        Setting {
            name: TEMP_DIRECTORY,
            value: database
                .allocator
                .temporary_folder()
                .map_or_else(String::new, |it| it.display().to_string()),
            description: "folder for what statements have no memory for; that of the system when empty",
        },
        Setting {
            name: PLACER,
            value: database.placer.mode().name().to_owned(),
            description: "whether columns of the whole database move to where measured loads want them: off, advise, on",
        },
    ]
}

/// `200: 2-3; 0: 0` as classes with nodes.
fn class_nodes(text: &str) -> Option<Vec<(u8, Vec<NodeId>)>> {
    let entries = text.split(';').map(str::trim).filter(|it| !it.is_empty());
    let entry = |it: &str| {
        let (class, nodes) = it.split_once(':')?;
        Some((class.trim().parse().ok()?, node_list(nodes)?))
    };
    entries.map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_nodes() {
        assert_eq!(
            class_nodes("200: 2-3; 0:0;"),
            Some(vec![(200, vec![NodeId(2), NodeId(3)]), (0, vec![NodeId(0)]),])
        );
        assert_eq!(
            (class_nodes("2"), class_nodes("300: 1"), class_nodes("")),
            (None, None, Some(vec![]))
        );
    }
}
