fn main() {
    for name in std::env::args().skip(1) {
        let e = experiments::Experiment::by_name(&name).unwrap();
        let t = std::time::Instant::now();
        let f = experiments::Figure::run(e, 1, &mut |_, _| {}).unwrap();
        println!("{}[{:.1}s]\n", experiments::text::tables(&f), t.elapsed().as_secs_f64());
    }
}
