//! What stands before the input, and when the input is whole.

use std::borrow::Cow;

use reedline::{Prompt, PromptEditMode, PromptHistorySearch, ValidationResult, Validator};

use crate::dot;
use crate::splitter::StatementSplitter;

/// Enter ends the input only where a statement or a dot command is whole.
pub(super) struct WholeStatement;

impl Validator for WholeStatement {
    fn validate(&self, text: &str) -> ValidationResult {
        let mut splitter = StatementSplitter::default();
        for line in text.lines() {
            if splitter.is_blank() && dot::command(line).is_some() {
                continue;
            }
            splitter.push_line(line);
            while splitter.next_statement().is_some() {}
        }
        if splitter.is_blank() { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

pub(super) struct ShellPrompt;

impl Prompt for ShellPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        "nodewise".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "> ".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "      ..> ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!(" (search: {}) ", search.term).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_ends_whole_statements_only() {
        let whole = |text| matches!(WholeStatement.validate(text), ValidationResult::Complete);
        assert!(whole("select 1;") && whole("") && whole(".tables") && whole("-- a remark"));
        assert!(whole("select 1; select 2;") && whole("select 1;\n.tables"));
        assert!(!whole("select 1") && !whole("select ';") && !whole("select 1; select"));
        assert!(!whole("select\n.5"));
        assert!(whole("\\q") && whole("exit") && whole("help") && whole("\\d t"));
        assert!(!whole("exits") && !whole("select\nexit"));
    }
}
