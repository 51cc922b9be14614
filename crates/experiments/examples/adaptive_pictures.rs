//! Draws what the placer makes of a hot column with large results, as docs/adaptive-placement.md shows it: the arguments are the
//! folder of the pictures.

use std::path::PathBuf;

use experiments::Settings;
use experiments::adaptive::{Load, Offers, follow};
use experiments::settings::Placing;
use experiments::timeline::Timeline;

/// A tenth of all rows qualify (P-HANA 6.2.3).
fn settings(machine: &str, placement: Placing) -> Settings {
    let (rows, columns, clients, selectivity) = (20_000_000, 16, 64, 0.1);
    let (machine, bitcases) = (machine.into(), (22, 22));
    Settings {
        machine,
        placement,
        rows,
        columns,
        clients,
        selectivity,
        bitcases,
        ..Settings::default()
    }
}

/// The mean of some seconds.
fn rate(per_second: &[u64]) -> f64 {
    per_second.iter().sum::<u64>() as f64 / per_second.len().max(1) as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("the folder of the pictures?")?);
    let machine = "4x-ivybridge-ex";
    let still = |placement| -> Result<f64, Box<dyn std::error::Error>> {
        let followed = follow(&settings(machine, placement), Load::One, 15, 1, None)?;
        Ok(rate(&followed.per_second[5..]))
    };
    let dealt = still(Placing::RoundRobin)?;
    let (split, parts) = (still(Placing::IndexVector)?, still(Placing::Physical)?);
    let setting =
        format!("{machine}, 64 clients, a tenth of the rows of one hot column of 22 bits");
    let pictures = [
        ("adaptive-partition", "A hot column is cut into parts by its key", true),
        ("adaptive-replicate", "A hot column gets copies of its dictionary", false),
    ];
    for (name, title, key) in pictures {
        let offers = Offers { key, copies: true };
        let placing = settings(machine, Placing::RoundRobin);
        let followed = follow(&placing, Load::One, 40, 1, Some(offers))?;
        let hot = followed.decisions.into_iter().filter(|it| it.item.table.0 == 1);
        let acts: Vec<_> = hot.collect();
        let all = [("RR", dealt), ("IVP", split), ("PP", parts)];
        let still = if key { &all[..] } else { &all[..2] };
        let (per_second, acts, setting) = (&followed.per_second[..], &acts[..], &setting[..]);
        let timeline = Timeline { title, setting, per_second, acts, still };
        std::fs::write(folder.join(format!("{name}.svg")), timeline.svg())?;
    }
    Ok(())
}
