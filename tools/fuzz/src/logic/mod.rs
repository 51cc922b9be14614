//! What Nodewise must agree with itself about: one question in several texts, settings, layouts and machines.
//!
//! Reading order: `rule` (what an equation is), `partition`, `expressions`, `shapes` (the rules), `settings`.

pub mod expressions;
pub mod partition;
pub mod rule;
pub mod settings;
pub mod shapes;
#[cfg(test)]
mod tests;

/// All rules.
pub fn rules() -> impl Iterator<Item = &'static rule::Rule> {
    partition::RULES.iter().chain(expressions::RULES).chain(shapes::RULES)
}
