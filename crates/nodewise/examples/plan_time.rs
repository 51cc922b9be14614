//! Planning time of the 22 TPC-H queries: parse, bind and plan, the least of 200 runs each. With a folder as argument it
//! writes the plans there instead, one file per query.

#[path = "../tests/catalog/mod.rs"]
mod catalog;

use std::time::Instant;

use binder::Statement;
use binder::parse::parse;
use catalog::plan_query;

fn main() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/queries/tpch");
    let folder = std::env::args().nth(1);
    let mut product = 1.0f64;
    for number in 1..=22 {
        let sql = std::fs::read_to_string(format!("{root}/q{number:02}.sql")).unwrap_or_default();
        let parsed = parse(&sql);
        if let (Some(folder), Ok(parsed)) = (&folder, &parsed)
            && let [Statement::Query { query }] = &parsed[..]
        {
            let text = match plan_query(query) {
                Ok(plan) => {
                    if let Err(error) = plan::validate(&plan) {
                        println!("q{number:02}: {error}");
                    }
                    plan::explain::text(&plan, &())
                }
                Err(error) => error.to_string(),
            };
            if let Err(error) = std::fs::write(format!("{folder}/q{number:02}.txt"), text) {
                println!("{error}");
            }
            continue;
        }
        let mut best = f64::INFINITY;
        for _ in 0..200 {
            let start = Instant::now();
            let parsed = parse(&sql);
            if let Some(Statement::Query { query }) = parsed.iter().flat_map(|it| it.first()).next()
                && let Err(error) = plan_query(query)
            {
                println!("q{number:02}: {error}");
                break;
            }
            best = best.min(start.elapsed().as_secs_f64() * 1e6);
        }
        println!("q{number:02} {best:8.0} us");
        product *= best.powf(1.0 / 22.0);
    }
    println!("geometric mean {product:.0} us");
}
