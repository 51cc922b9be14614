//! DuckDB's aggregates that are made of the list of their values, and calls of aggregates that are short in SQL by their names, over
//! the items of a list: `list_aggr(l, 'skewness')`.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value,
};

/// Whether the second argument of a function is the name of an aggregate.
pub(crate) fn takes_aggregate(name: &str) -> bool {
    matches!(name, "list_aggr" | "list_aggregate" | "array_aggr" | "array_aggregate" | "aggregate")
}

/// What an aggregate with one argument stands for, of those that are short in SQL.
fn aggregate_form(name: &str, argument: &str) -> Option<String> {
    let form = of_items(name)?.iter().find(|it| it.0 == 1)?;
    Some(form.1.replace("{1}", argument))
}

/// What stands for a function of lists that has the name of its aggregate: `list_kurtosis(l)`.
pub(crate) fn own_form(name: &str) -> Option<String> {
    let aggregates = ["sem", "skewness", "kurtosis", "kurtosis_pop", "mad", "entropy", "histogram"];
    let aggregate = name.strip_prefix("list_").filter(|it| aggregates.contains(it))?;
    aggregate_form(aggregate, "\"the item\"")
}

/// What a call of such a function stands for, where the aggregate is short in SQL.
pub(crate) fn expansion(name: &str, arguments: &[&Expr]) -> Option<String> {
    let (list, form) = match arguments {
        [list, Expr::Value(aggregate)] if takes_aggregate(name) => {
            let Value::SingleQuotedString(aggregate) = &aggregate.value else { return None };
            (list, aggregate_form(&aggregate.to_lowercase(), "\"the item\"")?)
        }
        [list] => (list, own_form(name)?),
        _ => return None,
    };
    if matches!(list, Expr::Value(it) if it.value == Value::Null) {
        return Some("CAST(NULL AS DOUBLE PRECISION)".to_owned());
    }
    Some(format!(
        "(CASE WHEN ({list}) IS NOT NULL \
         THEN (SELECT {form} FROM unnest({list}) AS \"the items\"(\"the item\")) END)"
    ))
}

/// Such an aggregate with FILTER as one without: what the filter leaves out is NULL, which none of them minds.
pub(crate) fn of_kept(name: &str, call: &Function) -> Option<Function> {
    let mut kept = call.clone();
    let condition = kept.filter.take()?;
    let FunctionArguments::List(list) = &mut kept.args else { return None };
    if of_items(name).is_none() || call.over.is_some() {
        return None;
    }
    for argument in &mut list.args {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) = argument else { return None };
        let result = std::mem::replace(value, Expr::value(Value::Null));
        let branch = CaseWhen { condition: (*condition).clone(), result };
        *value = Expr::Case {
            case_token: AttachedToken::empty(),
            end_token: AttachedToken::empty(),
            operand: None,
            conditions: vec![branch],
            else_result: None,
        };
    }
    Some(kept)
}

/// Skewness of a sample, from the powers of the distances from the mean; none where all values are alike.
const SKEWNESS: &str = "invoke(lambda \"all\", \"mean\" : (SELECT CASE WHEN \"n\" > 2 AND \"spread\" \
    THEN sqrt(\"n\" * (\"n\" - 1)) / (\"n\" - 2) * (\"c\" / \"n\") / (\"b\" / \"n\") ^ 1.5 END \
    FROM (SELECT min(\"one\") < max(\"one\") AS \"spread\", CAST(count(\"one\") AS DOUBLE PRECISION) AS \"n\", \
    sum((\"one\" - \"mean\") ^ 2) AS \"b\", sum((\"one\" - \"mean\") ^ 3) AS \"c\" \
    FROM unnest(\"all\") AS \"items\"(\"one\")) AS \"powers\"), \
    list(CAST({1} AS DOUBLE PRECISION)), avg(CAST({1} AS DOUBLE PRECISION)))";

/// The fourth central moment by the square of the second, less that of a normal distribution.
const KURTOSIS_POP: &str = "invoke(lambda \"all\", \"mean\" : (SELECT CASE WHEN \"n\" > 1 AND \"spread\" \
    THEN \"d\" / \"n\" / (\"b\" / \"n\") ^ 2 - 3 END \
    FROM (SELECT min(\"one\") < max(\"one\") AS \"spread\", CAST(count(\"one\") AS DOUBLE PRECISION) AS \"n\", \
    sum((\"one\" - \"mean\") ^ 2) AS \"b\", sum((\"one\" - \"mean\") ^ 4) AS \"d\" \
    FROM unnest(\"all\") AS \"items\"(\"one\")) AS \"powers\"), \
    list(CAST({1} AS DOUBLE PRECISION)), avg(CAST({1} AS DOUBLE PRECISION)))";

/// The same of a sample.
const KURTOSIS: &str = "invoke(lambda \"all\", \"mean\" : (SELECT CASE WHEN \"n\" > 3 AND \"spread\" \
    THEN (\"n\" - 1) / ((\"n\" - 2) * (\"n\" - 3)) \
    * ((\"n\" + 1) * (\"d\" / \"n\") / (\"b\" / \"n\") ^ 2 - 3 * (\"n\" - 1)) END \
    FROM (SELECT min(\"one\") < max(\"one\") AS \"spread\", CAST(count(\"one\") AS DOUBLE PRECISION) AS \"n\", \
    sum((\"one\" - \"mean\") ^ 2) AS \"b\", sum((\"one\" - \"mean\") ^ 4) AS \"d\" \
    FROM unnest(\"all\") AS \"items\"(\"one\")) AS \"powers\"), \
    list(CAST({1} AS DOUBLE PRECISION)), avg(CAST({1} AS DOUBLE PRECISION)))";

/// The forms of these aggregates, each with the number of its arguments.
pub(crate) fn of_items(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "favg" => &[(1, "avg(CAST({1} AS DOUBLE PRECISION))")],
        "fsum" | "sumkahan" | "kahan_sum" => &[(1, "sum(CAST({1} AS DOUBLE PRECISION))")],
        "geomean" | "geometric_mean" => &[(1, "exp(avg(ln(CAST({1} AS DOUBLE PRECISION))))")],
        "sem" => &[(1, "(stddev_pop(CAST({1} AS DOUBLE PRECISION)) / sqrt(count({1})))")],
        "skewness" => &[(1, SKEWNESS)],
        "kurtosis" => &[(1, KURTOSIS)],
        "kurtosis_pop" => &[(1, KURTOSIS_POP)],
        // The median of the distances from the median.
        "mad" => &[(
            1,
            "invoke(lambda \"all\", \"middle\" : \
             list_median(list_transform(\"all\", lambda \"one\" : abs(\"one\" - \"middle\"))), \
             list({1}), median({1}))",
        )],
        // In bits.
        "entropy" => &[(
            1,
            "invoke(lambda \"all\" : (SELECT coalesce(log(2, sum(\"n\")) \
             - sum(\"n\" * log(2, \"n\")) / sum(\"n\"), 0) \
             FROM (SELECT CAST(count(*) AS DOUBLE PRECISION) AS \"n\" \
             FROM unnest(\"all\") AS \"items\"(\"one\") WHERE \"one\" IS NOT NULL GROUP BY \"one\") \
             AS \"groups\"), list({1}))",
        )],
        "histogram" => &[(
            1,
            "invoke(lambda \"all\" : (SELECT map(list(\"one\" ORDER BY \"one\"), list(\"n\" ORDER BY \"one\")) \
             FROM (SELECT \"one\", count(*) AS \"n\" \
             FROM unnest(\"all\") AS \"items\"(\"one\") WHERE \"one\" IS NOT NULL GROUP BY \"one\") \
             AS \"groups\"), list({1}))",
        )],
        _ => return None,
    })
}
