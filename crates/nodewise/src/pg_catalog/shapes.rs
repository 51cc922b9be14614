//! The columns of the views of `pg_catalog` that have rows, each with the letter of its type ([`columns_of`](crate::views::columns_of)).

pub(super) const PG_AM: &str = "oid:# amname:d amhandler:t amtype:c";
pub(super) const PG_ATTRDEF: &str = "oid:# adrelid:# adnum:2 adbin:t";
pub(super) const PG_ATTRIBUTE: &str = "attrelid:# attname:d atttypid:# attlen:2 attnum:2 atttypmod:4 attndims:4 attbyval:b attalign:c attstorage:c attcompression:c attnotnull:b atthasdef:b atthasmissing:b attidentity:c attgenerated:c attisdropped:b attislocal:b attinhcount:4 attcollation:# attstattarget:4 attacl:a attoptions:a attfdwoptions:a";
pub(super) const PG_AUTHID: &str = "oid:# rolname:d rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolbypassrls:b rolconnlimit:4 rolpassword:t rolvaliduntil:t rolconfig:a";
pub(super) const PG_AUTH_MEMBERS: &str =
    "oid:# roleid:# member:# grantor:# admin_option:b inherit_option:b set_option:b";
pub(super) const PG_AVAILABLE_EXTENSIONS: &str =
    "name:d default_version:t installed_version:t comment:t";
pub(super) const PG_CLASS: &str = "oid:# relname:d relnamespace:# reltype:# reloftype:# relowner:# relam:# relfilenode:# reltablespace:# relpages:4 reltuples:r relallvisible:4 reltoastrelid:# relhasindex:b relisshared:b relpersistence:c relkind:c relnatts:2 relchecks:2 relhasrules:b relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b relreplident:c relispartition:b relrewrite:# relfrozenxid:i relminmxid:i relacl:a reloptions:a relpartbound:t";
pub(super) const PG_COLLATION: &str = "oid:# collname:d collnamespace:# collowner:# collprovider:c collisdeterministic:b collencoding:4 collcollate:t collctype:t colllocale:t collicurules:t collversion:t";
pub(super) const PG_CONSTRAINT: &str = "oid:# conname:d connamespace:# contype:c condeferrable:b condeferred:b conenforced:b convalidated:b conrelid:# contypid:# conindid:# conparentid:# confrelid:# confupdtype:c confdeltype:c confmatchtype:c conislocal:b coninhcount:4 connoinherit:b conkey:s confkey:s conbin:t conperiod:b conpfeqop:l conexclop:l confdelsetcols:s";
pub(super) const PG_CURSORS: &str =
    "name:t statement:t is_holdable:b is_binary:b is_scrollable:b creation_time:m";
pub(super) const PG_DATABASE: &str = "oid:# datname:d datdba:# encoding:4 datlocprovider:c datistemplate:b datallowconn:b datconnlimit:4 dattablespace:# datcollate:t datctype:t datlocale:t daticurules:t datacl:a";
pub(super) const PG_DEPEND: &str =
    "classid:# objid:# objsubid:4 refclassid:# refobjid:# refobjsubid:4 deptype:c";
pub(super) const PG_DESCRIPTION: &str = "objoid:# classoid:# objsubid:4 description:t";
pub(super) const PG_ENUM: &str = "oid:# enumtypid:# enumsortorder:i enumlabel:d";
pub(super) const PG_EXTENSION: &str = "oid:# extname:d extowner:# extnamespace:# extrelocatable:b extversion:t extconfig:o extcondition:a";
pub(super) const PG_GROUP: &str = "groname:d grosysid:# grolist:l";
pub(super) const PG_INDEX: &str = "indexrelid:# indrelid:# indnatts:2 indnkeyatts:2 indisunique:b indnullsnotdistinct:b indisprimary:b indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b indislive:b indisreplident:b indkey:k indoption:k indexprs:t indpred:t indclass:o indcollation:o";
pub(super) const PG_INDEXES: &str = "schemaname:d tablename:d indexname:d tablespace:d indexdef:t";
pub(super) const PG_LANGUAGE: &str = "oid:# lanname:d lanowner:# lanispl:b lanpltrusted:b lanplcallfoid:# laninline:# lanvalidator:# lanacl:a";
pub(super) const PG_LOCKS: &str = "locktype:t database:# relation:# page:4 tuple:2 virtualxid:t transactionid:i classid:# objid:# objsubid:2 virtualtransaction:t pid:4 mode:t granted:b fastpath:b waitstart:t";
pub(super) const PG_MATVIEWS: &str = "schemaname:d matviewname:d matviewowner:d tablespace:d hasindexes:b ispopulated:b definition:t";
pub(super) const PG_NAMESPACE: &str = "oid:# nspname:d nspowner:# nspacl:a";
pub(super) const PG_OPCLASS: &str = "oid:# opcmethod:# opcname:d opcnamespace:# opcowner:# opcfamily:# opcintype:# opcdefault:b opckeytype:#";
pub(super) const PG_PREPARED_STATEMENTS: &str = "name:t statement:t prepare_time:m parameter_types:a result_types:a from_sql:b generic_plans:i custom_plans:i";
pub(super) const PG_PROC: &str = "oid:# proname:d pronamespace:# proowner:# prolang:# procost:i prorows:i provariadic:# prokind:c prosecdef:b proleakproof:b proisstrict:b proretset:b provolatile:c proparallel:c pronargs:2 pronargdefaults:2 prorettype:# proargtypes:o proallargtypes:l proargmodes:a proargnames:a prosrc:t probin:t proconfig:a proacl:a";
pub(super) const PG_RANGE: &str = "rngtypid:# rngsubtype:# rngmultitypid:# rngcollation:# rngsubopc:# rngcanonical:t rngsubdiff:t";
pub(super) const PG_REWRITE: &str =
    "oid:# rulename:d ev_class:# ev_type:c ev_enabled:c is_instead:b ev_qual:t ev_action:t";
pub(super) const PG_SEQUENCE: &str =
    "seqrelid:# seqtypid:# seqstart:i seqincrement:i seqmax:i seqmin:i seqcache:i seqcycle:b";
pub(super) const PG_SEQUENCES: &str = "schemaname:d sequencename:d sequenceowner:d data_type:t start_value:i min_value:i max_value:i increment_by:i cycle:b cache_size:i last_value:i";
pub(super) const PG_SETTINGS: &str = "name:t setting:t unit:t category:t short_desc:t context:t vartype:t source:t reset_val:t pending_restart:b";
pub(super) const PG_SHADOW: &str = "usename:d usesysid:# usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:t valuntil:t useconfig:a";
pub(super) const PG_STAT_ACTIVITY: &str = "datid:# datname:d pid:4 leader_pid:4 usesysid:# usename:d application_name:t client_addr:t client_hostname:t client_port:4 backend_start:m xact_start:m query_start:m state_change:m wait_event_type:t wait_event:t state:t backend_xid:i backend_xmin:i query_id:i query:t backend_type:t";
pub(super) const PG_STAT_STATEMENTS: &str = "userid:i dbid:# toplevel:b queryid:i query:t calls:i total_exec_time:f min_exec_time:f max_exec_time:f mean_exec_time:f stddev_exec_time:f rows:i";
pub(super) const PG_TABLES: &str = "schemaname:d tablename:d tableowner:d tablespace:d hasindexes:b hasrules:b hastriggers:b rowsecurity:b";
pub(super) const PG_TABLESPACE: &str = "oid:# spcname:d spcowner:# spcacl:a spcoptions:t";
pub(super) const PG_TYPE: &str = "oid:# typname:d typnamespace:# typowner:# typlen:2 typbyval:b typtype:c typcategory:c typispreferred:b typisdefined:b typdelim:c typrelid:# typsubscript:t typelem:# typarray:# typinput:t typoutput:t typreceive:t typsend:t typnotnull:b typbasetype:# typtypmod:4 typndims:4 typcollation:# typdefault:t typacl:a";
pub(super) const PG_VIEWS: &str = "schemaname:d viewname:d viewowner:d definition:t";

/// All of them, by the names of the views.
pub(super) const ALL: [(&str, &str); 39] = [
    ("pg_am", PG_AM),
    ("pg_attrdef", PG_ATTRDEF),
    ("pg_attribute", PG_ATTRIBUTE),
    ("pg_auth_members", PG_AUTH_MEMBERS),
    ("pg_authid", PG_AUTHID),
    ("pg_available_extensions", PG_AVAILABLE_EXTENSIONS),
    ("pg_class", PG_CLASS),
    ("pg_collation", PG_COLLATION),
    ("pg_constraint", PG_CONSTRAINT),
    ("pg_cursors", PG_CURSORS),
    ("pg_database", PG_DATABASE),
    ("pg_depend", PG_DEPEND),
    ("pg_description", PG_DESCRIPTION),
    ("pg_enum", PG_ENUM),
    ("pg_extension", PG_EXTENSION),
    ("pg_group", PG_GROUP),
    ("pg_index", PG_INDEX),
    ("pg_indexes", PG_INDEXES),
    ("pg_language", PG_LANGUAGE),
    ("pg_locks", PG_LOCKS),
    ("pg_matviews", PG_MATVIEWS),
    ("pg_namespace", PG_NAMESPACE),
    ("pg_opclass", PG_OPCLASS),
    ("pg_prepared_statements", PG_PREPARED_STATEMENTS),
    ("pg_proc", PG_PROC),
    ("pg_range", PG_RANGE),
    ("pg_rewrite", PG_REWRITE),
    ("pg_roles", PG_AUTHID),
    ("pg_sequence", PG_SEQUENCE),
    ("pg_sequences", PG_SEQUENCES),
    ("pg_settings", PG_SETTINGS),
    ("pg_shadow", PG_SHADOW),
    ("pg_stat_activity", PG_STAT_ACTIVITY),
    ("pg_stat_statements", PG_STAT_STATEMENTS),
    ("pg_tables", PG_TABLES),
    ("pg_tablespace", PG_TABLESPACE),
    ("pg_type", PG_TYPE),
    ("pg_user", PG_SHADOW),
    ("pg_views", PG_VIEWS),
];
