use hardware::{NodeId, SocketId};
use nodewise::picture::{ColumnPicture, NodePicture, Share, Stretch, TablePicture};

use super::*;

fn share(rows: u64, lookup: u64, copies: u64) -> Share {
    Share { rows, lookup, copies }
}

fn stretch(part: usize, pages: usize, nodes: &[u16]) -> Stretch {
    Stretch { part, pages, nodes: nodes.iter().map(|&it| NodeId(it)).collect() }
}

/// A table on `nodes` nodes: a split column, a column on the last node, an interleaved one, an empty one.
fn sample(nodes: u16) -> TablePicture {
    let only = |node: u16, it: Share| {
        (0..nodes).map(|at| if at == node { it } else { Share::default() }).collect()
    };
    let each = |it: Share| vec![it; usize::from(nodes)];
    let all: Vec<u16> = (0..nodes).collect();
    let column = |name: &str, shares: Vec<Share>, stretches| ColumnPicture {
        name: name.into(),
        encoding: "offset",
        bytes: shares.iter().map(Share::total).sum(),
        shares,
        stretches,
    };
    let split = (0..nodes).map(|it| stretch(0, 8, &[it])).collect();
    let columns = vec![
        column("split", each(share(1 << 20, 0, 0)), split),
        column(
            "a <very> long & \"odd\" name",
            only(nodes - 1, share(1 << 19, 1 << 18, 1 << 17)),
            vec![stretch(0, 4, &[nodes - 1]), stretch(1, 4, &[nodes - 1])],
        ),
        column("dealt", each(share(1 << 18, 1 << 18, 0)), vec![stretch(0, 8, &all)]),
        column("empty", each(share(0, 0, 0)), Vec::new()),
    ];
    TablePicture {
        table: "sample".into(),
        rows: 1_234_567,
        bytes: columns.iter().map(|it| it.bytes).sum(),
        parts: 2,
        partitioning: Some("RANGE (day)".into()),
        nodes: (0..nodes)
            .map(|it| NodePicture { node: NodeId(it), socket: SocketId(it / 2), cpus: 4 })
            .collect(),
        columns,
    }
}

#[test]
fn bars_are_as_long_as_bytes() {
    let style = Style { width: 100, colours: false, unicode: false };
    let text = draw(&sample(2), &style);
    let expected = "\
sample: 1,234,567 rows in 4 columns, 3.9 MiB, RANGE (day) with 2 parts

column                  bytes  rows              node 0                    node 1
split                 2.0 MiB  0000000011111111  #######       1.0 MiB     #######       1.0 MiB
";
    assert!(text.starts_with(expected), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[4].starts_with("a <very> long & \"~  896.0 KiB  1111111111111111"), "{text}");
    assert!(lines[4].ends_with("########++++. 896.0 KiB"), "{text}");
    assert!(lines[5].contains("****************  ####+++ "), "{text}");
    assert!(lines[6].starts_with("empty"), "{text}");
    assert!(lines[7].starts_with("all"), "{text}");
    assert!(lines.iter().all(|it| it.len() <= 120 && *it == it.trim_end()), "{text}");
}

#[test]
fn many_nodes_become_shades_and_few_characters_suffice() {
    for (nodes, width) in [(1, 20), (2, 80), (4, 80), (8, 100), (32, 120), (32, 40)] {
        for unicode in [false, true] {
            let text = draw(&sample(nodes), &Style { width, colours: false, unicode });
            let table = text.lines().skip(2).take(5);
            let widest = table.map(|it| it.chars().count()).max().unwrap();
            let least = 47 + 3 * usize::from(nodes);
            assert!(widest <= width.max(least), "{nodes} nodes in {width}: {widest}\n{text}");
            assert_eq!(unicode, !text.is_ascii(), "{text}");
        }
    }
}

#[test]
fn colours_only_on_demand() {
    let style = Style { width: 100, colours: true, unicode: true };
    let coloured = draw(&sample(4), &style);
    let plain = draw(&sample(4), &Style { colours: false, ..style });
    assert!(coloured.contains("\u{1b}[38;5;33m") && !plain.contains('\u{1b}'));
    let mut stripped = coloured.replace("\u{1b}[0m", "");
    while let Some(at) = stripped.find('\u{1b}') {
        let end = stripped[at..].find('m').unwrap();
        stripped.replace_range(at..=at + end, "");
    }
    let bare = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(bare(&stripped), bare(&plain));
}

#[test]
fn the_file_is_well_formed() {
    for nodes in [1, 2, 4, 8, 16, 32] {
        let text = svg(&sample(nodes));
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(text.contains("a &lt;very&gt; long &amp; &quot;odd&quot; name"));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert_eq!(text.contains("<pattern "), nodes > 1);
        // Each element is closed, and each bar lies inside of the card.
        let opened = text.matches('<').count() - text.matches("</").count();
        let closed = text.matches("/>").count() + text.matches("</").count();
        assert_eq!(opened, closed, "{nodes} nodes");
        let width: f64 = between(&text, "viewBox=\"0 0 ", " ").parse().unwrap();
        for rect in text.lines().filter(|it| it.starts_with("<rect x=")) {
            let x: f64 = between(rect, "x=\"", "\"").parse().unwrap();
            let length: f64 = between(rect, "width=\"", "\"").parse().unwrap();
            assert!(x >= 0.0 && x + length <= width, "{rect}");
        }
    }
}

fn between<'a>(text: &'a str, before: &str, behind: &str) -> &'a str {
    let rest = text.split_once(before).unwrap().1;
    rest.split_once(behind).unwrap().0
}

#[test]
fn numbers_have_commas() {
    let all = [0, 12, 123, 1_234, 123_456, 1_234_567].map(thousands);
    assert_eq!(all, ["0", "12", "123", "1,234", "123,456", "1,234,567"]);
}
