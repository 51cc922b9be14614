//! The texts of the 99 queries, and answers to them, as files beside the sources.

/// Calls a macro with the numbers of all queries behind what else it takes.
macro_rules! numbered {
    ($each:ident $($more:tt)*) => {
        $each!($($more)*
            "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15"
            "16" "17" "18" "19" "20" "21" "22" "23" "24" "25" "26" "27" "28" "29" "30"
            "31" "32" "33" "34" "35" "36" "37" "38" "39" "40" "41" "42" "43" "44" "45"
            "46" "47" "48" "49" "50" "51" "52" "53" "54" "55" "56" "57" "58" "59" "60"
            "61" "62" "63" "64" "65" "66" "67" "68" "69" "70" "71" "72" "73" "74" "75"
            "76" "77" "78" "79" "80" "81" "82" "83" "84" "85" "86" "87" "88" "89" "90"
            "91" "92" "93" "94" "95" "96" "97" "98" "99"
        )
    };
}

macro_rules! texts {
    ($($number:literal)+) => {
        &[$((
            concat!("q", $number),
            include_str!(concat!("../../queries/tpcds/q", $number, ".sql")),
        )),+]
    };
}

macro_rules! answers {
    ($scale:literal $($number:literal)+) => {
        &[$(include_str!(concat!("../../queries/tpcds/answers/sf", $scale, "/q", $number, ".csv"))),+]
    };
}

/// Name (`q01` to `q99`) and text of each query, with the parameters of the specification's qualification run.
pub static QUERIES: &[(&str, &str)] = numbered!(texts);

/// The scale whose answers are stored.
pub const SCALE: f64 = 0.01;

/// The stored answers, one for each query.
pub static ANSWERS: &[&str] = numbered!(answers "0.01");
