//! The texts of the 22 queries, as files beside the sources.

macro_rules! files {
    ($($number:literal)+) => {
        &[$((
            concat!("q", $number),
            include_str!(concat!("../../queries/tpch/q", $number, ".sql")),
        )),+]
    };
}

static QUERIES: &[(&str, &str)] = files!(
    "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11"
    "12" "13" "14" "15" "16" "17" "18" "19" "20" "21" "22"
);

/// Name (`q01` to `q22`) and text of each query, with the validation parameters of the specification.
pub fn queries() -> &'static [(&'static str, &'static str)] {
    QUERIES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_22_queries_in_order() {
        assert_eq!(queries().len(), 22);
        assert!(queries().is_sorted());
        assert!(queries().iter().all(|(_, sql)| sql.to_ascii_lowercase().contains("select")));
    }
}
