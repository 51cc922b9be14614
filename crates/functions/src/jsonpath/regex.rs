//! The patterns of `like_regex`: XQuery's flags, PostgreSQL's expressions.

use types::{SqlError, SqlResult};

use super::path::RegexFlags;
use crate::regexp::{Flags, Pattern};

/// A pattern, ready to be matched.
///
/// # Errors
/// 2201B for what is none, 0A000 for what is not supported.
pub(super) fn compiled(pattern: &str, flags: RegexFlags) -> SqlResult<Pattern> {
    if flags.expanded && !flags.literal {
        let message = "XQuery \"x\" flag (expanded regular expressions) is not implemented";
        return Err(SqlError::unsupported(message));
    }
    let flags = Flags {
        fold: flags.fold,
        literal: flags.literal,
        stops_at_newline: !flags.literal && !flags.dot_all,
        line_anchors: !flags.literal && flags.lines,
        ..Flags::default()
    };
    Pattern::new(pattern, flags)
}
