//! Right sides that depend on nothing: ordinary joins and scalar subqueries.

use plan::relation::{Apply, Rel, ScalarQuery};
use plan::{Expr, ExprKind, PipelineId};
use types::SqlResult;

use super::pull::Pulled;
use super::state::{Unnesting, Use};

impl Unnesting {
    /// A dependent join whose sides are unnested and whose right side depends on nothing.
    pub(super) fn independent(&mut self, left: Rel, right: Rel, how: Use) -> SqlResult<Rel> {
        if let Use::Apply(Apply::Scalar { value, source }) = how {
            let scalar = PipelineId(self.scalars.len() as u32);
            self.scalars.push(ScalarQuery { rel: right, attr: source });
            let data_type = self.attributes[value].data_type;
            let expr = Expr { kind: ExprKind::Scalar(scalar), data_type };
            return Ok(Rel::Map { input: Box::new(left), exprs: vec![(value, expr)] });
        }
        let pulled = Pulled { rel: right, conjuncts: Vec::new(), definitions: Vec::new() };
        Ok(self.joined(left, pulled, how))
    }
}
