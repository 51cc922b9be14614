//! What clients ask of the catalog: the statements that psql, SQLAlchemy and JDBC send.

use crate::common::{Raw, Running, query};

/// The rows of a query, values between bars.
fn rows(raw: &mut Raw, sql: &str) -> Vec<String> {
    raw.send(&query(sql));
    let messages = raw.until_ready();
    if let Some(error) = messages.iter().find(|it| it.0 == b'E') {
        panic!("{sql}: {}", error.field(b'M'));
    }
    let text = |body: &[u8]| {
        let mut rest = &body[2..];
        let mut values = Vec::new();
        while let Some((length, behind)) = rest.split_first_chunk::<4>() {
            let length = i32::from_be_bytes(*length).max(0) as usize;
            let (value, behind) = behind.split_at(length);
            values.push(String::from_utf8_lossy(value).into_owned());
            rest = behind;
        }
        values.join("|")
    };
    messages.iter().filter(|it| it.0 == b'D').map(|it| text(&it.1)).collect()
}

const TABLES: &str = "CREATE TABLE part (id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL, price DECIMAL(10,2) DEFAULT 1); \
    CREATE TABLE stock (part BIGINT REFERENCES part (id), many INTEGER CHECK (many >= 0)); \
    CREATE INDEX stock_part ON stock (part)";

#[test]
fn psql_lists_tables_schemas_and_databases() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLES));
    // \dt
    let tables = "SELECT n.nspname as \"Schema\", c.relname as \"Name\",
        CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index'
          WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table'
          WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as \"Type\",
        pg_catalog.pg_get_userbyid(c.relowner) as \"Owner\"
        FROM pg_catalog.pg_class c
             LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
        WHERE c.relkind IN ('r','p','')
              AND n.nspname <> 'pg_catalog'
              AND n.nspname !~ '^pg_toast'
              AND n.nspname <> 'information_schema'
          AND pg_catalog.pg_table_is_visible(c.oid)
        ORDER BY 1,2";
    assert_eq!(
        rows(&mut raw, tables),
        ["public|part|table|nodewise", "public|stock|table|nodewise"]
    );
    // How \d finds what it is asked about.
    let found = "SELECT c.oid, n.nspname, c.relname
        FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relname OPERATOR(pg_catalog.~) '^(stock)$' COLLATE pg_catalog.default
          AND pg_catalog.pg_table_is_visible(c.oid)
        ORDER BY 2, 3";
    let first = rows(&mut raw, found);
    assert!(first[0].ends_with("|public|stock"), "{first:?}");
    raw.kinds(&query("INSERT INTO part VALUES (1, 'a', 2); INSERT INTO stock VALUES (1, 5)"));
    assert_eq!(rows(&mut raw, found), first, "numbers stay");
    // \dn and \l
    let schemas = "SELECT n.nspname AS \"Name\", pg_catalog.pg_get_userbyid(n.nspowner) AS \"Owner\"
        FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1";
    assert_eq!(rows(&mut raw, schemas), ["nodewise|nodewise", "public|pg_database_owner"]);
    let databases = "SELECT d.datname, pg_catalog.pg_encoding_to_char(d.encoding) FROM pg_catalog.pg_database d ORDER BY 1";
    assert_eq!(rows(&mut raw, databases), ["ada|UTF8"]);
}

#[test]
fn columns_keys_and_constraints_are_told() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLES));
    // The columns of \d.
    let columns = "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
          (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
           WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, a.attidentity
        FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = 'part'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";
    let expected = ["id|bigint||t|", "name|character varying(20)||t|", "price|numeric(10,2)|1|f|"];
    assert_eq!(rows(&mut raw, columns), expected);
    let indexes = "SELECT c2.relname, i.indisprimary, i.indisunique, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true)
        FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
        WHERE c.oid = 'public.stock'::regclass AND c.oid = i.indrelid AND i.indexrelid = c2.oid
        ORDER BY i.indisprimary DESC, c2.relname";
    let expected = ["stock_part|f|f|CREATE INDEX stock_part ON public.stock USING btree (part)"];
    assert_eq!(rows(&mut raw, indexes), expected);
    let references = "SELECT r.contype, r.confrelid::pg_catalog.regclass::text, pg_catalog.pg_get_constraintdef(r.oid, true)
        FROM pg_catalog.pg_constraint r WHERE r.conrelid = 'stock'::regclass AND r.contype = 'f'";
    assert_eq!(rows(&mut raw, references), ["f|part|FOREIGN KEY (part) REFERENCES part(id)"]);
    let information = "SELECT column_name, data_type, is_nullable, numeric_precision, udt_name
        FROM information_schema.columns WHERE table_name = 'stock' ORDER BY ordinal_position";
    assert_eq!(
        rows(&mut raw, information),
        ["part|bigint|YES|64|int8", "many|integer|YES|32|int4"]
    );
    let keys = "SELECT constraint_type FROM information_schema.table_constraints WHERE table_name = 'part'";
    assert_eq!(rows(&mut raw, keys), ["PRIMARY KEY"]);
    assert_eq!(raw.state(&query("SELECT 'none'::regclass")), "42P01");
    assert_eq!(
        rows(
            &mut raw,
            "SELECT 'part'::regclass = (SELECT oid FROM pg_class WHERE relname = 'part')"
        ),
        ["t"]
    );
}

#[test]
fn functions_tell_of_the_session() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let version = raw.value("SELECT pg_catalog.version()");
    assert!(version.contains("PostgreSQL 18.") && version.contains("Nodewise"), "{version}");
    assert!(raw.value("SELECT current_schema()").ends_with("public"));
    assert!(raw.value("SELECT current_database()").ends_with("ada"));
    // Who is trusted is the superuser, as long as there are no roles.
    assert_eq!(raw.value("SELECT current_user"), "nodewise");
    assert_eq!(rows(&mut raw, "SELECT pg_backend_pid() > 0, pg_is_in_recovery()"), ["t|f"]);
    assert_eq!(
        rows(
            &mut raw,
            "SELECT current_setting('server_version_num'), current_setting('none', true)"
        ),
        ["180000|"]
    );
    assert_eq!(raw.state(&query("SELECT current_setting('none')")), "42704");
    // ADBC looks for types by the names of their functions.
    let types = "SELECT typname FROM pg_catalog.pg_type WHERE typreceive::TEXT IN ('int4recv', 'numeric_recv', 'date_recv', 'textrecv') ORDER BY oid";
    assert_eq!(rows(&mut raw, types), ["int4", "text", "date", "numeric"]);
    assert_eq!(rows(&mut raw, "SELECT 'int4'::regtype::oid, 23::regtype::text"), ["23|integer"]);
}

/// What pgjdbc asks for tables of some types, cut to what it tells them apart by.
const JDBC_TABLES: &str = "SELECT n.nspname, c.relname, \
    CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema' \
      WHEN true THEN CASE WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' \
        THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TABLE' WHEN 'v' THEN 'SYSTEM VIEW' WHEN 'i' THEN 'SYSTEM INDEX' ELSE NULL END ELSE NULL END \
      WHEN false THEN CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' ELSE NULL END ELSE NULL END \
    FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c \
    LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass) \
    WHERE c.relnamespace = n.oid";

/// What it asks for their columns.
const JDBC_COLUMNS: &str = "SELECT a.attname, a.atttypid, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.atttypmod, a.attlen, \
      row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, ''), pg_catalog.pg_get_expr(def.adbin, def.adrelid), dsc.description, t.typtype \
    FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (a.attrelid = c.oid) \
    JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid = def.adrelid AND a.attnum = def.adnum) \
    LEFT JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid) \
    LEFT JOIN pg_catalog.pg_class dc ON (dc.oid = dsc.classoid AND dc.relname = 'pg_class') \
    WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname LIKE 'pg_catalog' AND c.relname LIKE 'pg\\_namespace'";

#[test]
fn relations_of_the_system_are_relations() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLES));
    let named = "c.relname IN ('pg_class', 'pg_tables', 'routines')";
    assert_eq!(
        rows(&mut raw, &format!("{JDBC_TABLES} AND {named} ORDER BY 2")),
        [
            "pg_catalog|pg_class|SYSTEM TABLE",
            "pg_catalog|pg_tables|SYSTEM VIEW",
            "information_schema|routines|SYSTEM VIEW"
        ]
    );
    assert_eq!(
        rows(&mut raw, &format!("{JDBC_COLUMNS} ORDER BY 6")),
        [
            "oid|26|f|-1|4|1||||b",
            "nspname|19|f|-1|64|2||||b",
            "nspowner|26|f|-1|4|3||||b",
            "nspacl|1009|f|-1|-1|4||||b"
        ]
    );
    // Those of users are told as before to who leaves out the schemas of the system.
    let own = "SELECT table_name FROM information_schema.tables
        WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1";
    assert_eq!(rows(&mut raw, own), ["part", "stock"]);
    let visible = "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'v') AND n.nspname !~ '^pg_' AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1";
    assert_eq!(rows(&mut raw, visible), ["part", "stock"]);
    // Each column that a relation of the system has is told with its type.
    let untold = "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        LEFT JOIN pg_type t ON t.oid = a.atttypid
        WHERE c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'nodewise'::regnamespace) AND t.oid IS NULL";
    assert!(rows(&mut raw, untold).is_empty());
    let doubled = "SELECT oid FROM pg_class GROUP BY oid HAVING count(*) > 1";
    assert!(rows(&mut raw, doubled).is_empty());
    assert_eq!(rows(&mut raw, "SELECT 'nodewise.jobs'::regclass"), ["nodewise.jobs"]);
}
