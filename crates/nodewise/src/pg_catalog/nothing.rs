//! Views of `pg_catalog` of what there is none of: their columns, as PostgreSQL 18 has them.

/// A view and its columns, each with the letter of its type ([`ViewBuilder`](crate::views::ViewBuilder)).
pub(super) const NOTHING: &[(&str, &str)] = &[
    (
        "pg_aggregate",
        "aggfnoid:i aggkind:t aggnumdirectargs:2 aggtransfn:i aggfinalfn:i aggcombinefn:i aggserialfn:i aggdeserialfn:i aggmtransfn:i aggminvtransfn:i aggmfinalfn:i aggfinalextra:b aggmfinalextra:b aggfinalmodify:t aggmfinalmodify:t aggsortop:i aggtranstype:i aggtransspace:4 aggmtranstype:i aggmtransspace:4 agginitval:t aggminitval:t",
    ),
    (
        "pg_amop",
        "oid:i amopfamily:i amoplefttype:i amoprighttype:i amopstrategy:2 amoppurpose:t amopopr:i amopmethod:i amopsortfamily:i",
    ),
    ("pg_amproc", "oid:i amprocfamily:i amproclefttype:i amprocrighttype:i amprocnum:2 amproc:i"),
    ("pg_available_extensions", "name:d default_version:t installed_version:t comment:t"),
    ("pg_cast", "oid:i castsource:i casttarget:i castfunc:i castcontext:t castmethod:t"),
    (
        "pg_conversion",
        "oid:i conname:d connamespace:i conowner:i conforencoding:4 contoencoding:4 conproc:i condefault:b",
    ),
    ("pg_db_role_setting", "setdatabase:i setrole:i setconfig:a"),
    ("pg_default_acl", "oid:i defaclrole:i defaclnamespace:i defaclobjtype:t defaclacl:a"),
    ("pg_event_trigger", "oid:i evtname:d evtevent:d evtowner:i evtfoid:i evtenabled:t evttags:a"),
    (
        "pg_foreign_data_wrapper",
        "oid:i fdwname:d fdwowner:i fdwhandler:i fdwvalidator:i fdwacl:a fdwoptions:a",
    ),
    (
        "pg_foreign_server",
        "oid:i srvname:d srvowner:i srvfdw:i srvtype:t srvversion:t srvacl:a srvoptions:a",
    ),
    ("pg_init_privs", "objoid:i classoid:i objsubid:4 privtype:t initprivs:a"),
    ("pg_largeobject_metadata", "oid:i lomowner:i lomacl:a"),
    (
        "pg_operator",
        "oid:i oprname:d oprnamespace:i oprowner:i oprkind:t oprcanmerge:b oprcanhash:b oprleft:i oprright:i oprresult:i oprcom:i oprnegate:i oprcode:i oprrest:i oprjoin:i",
    ),
    ("pg_opfamily", "oid:i opfmethod:i opfname:d opfnamespace:i opfowner:i"),
    ("pg_parameter_acl", "oid:i parname:t paracl:a"),
    (
        "pg_partitioned_table",
        "partrelid:i partstrat:t partnatts:2 partdefid:i partattrs:k partclass:o partcollation:o partexprs:t",
    ),
    (
        "pg_policy",
        "oid:i polname:d polrelid:i polcmd:t polpermissive:b polroles:n polqual:t polwithcheck:t",
    ),
    ("pg_prepared_xacts", "transaction:i gid:t prepared:t owner:d database:d"),
    (
        "pg_publication",
        "oid:i pubname:d pubowner:i puballtables:b pubinsert:b pubupdate:b pubdelete:b pubtruncate:b pubviaroot:b pubgencols:t",
    ),
    ("pg_publication_namespace", "oid:i pnpubid:i pnnspid:i"),
    ("pg_publication_rel", "oid:i prpubid:i prrelid:i prqual:t prattrs:k"),
    ("pg_rules", "schemaname:d tablename:d rulename:d definition:t"),
    ("pg_seclabel", "objoid:i classoid:i objsubid:4 provider:t label:t"),
    (
        "pg_seclabels",
        "objoid:i classoid:i objsubid:4 objtype:t objnamespace:i objname:t provider:t label:t",
    ),
    ("pg_shdepend", "dbid:i classid:i objid:i objsubid:4 refclassid:i refobjid:i deptype:t"),
    ("pg_shseclabel", "objoid:i classoid:i provider:t label:t"),
    (
        "pg_stat_user_indexes",
        "relid:i indexrelid:i schemaname:d relname:d indexrelname:d idx_scan:i last_idx_scan:t idx_tup_read:i idx_tup_fetch:i",
    ),
    (
        "pg_statistic_ext",
        "oid:i stxrelid:i stxname:d stxnamespace:i stxowner:i stxkeys:k stxstattarget:4 stxkind:a stxexprs:t",
    ),
    (
        "pg_statistic_ext_data",
        "stxoid:i stxdinherit:b stxdndistinct:t stxddependencies:t stxdmcv:t stxdexpr:t",
    ),
    (
        "pg_subscription",
        "oid:i subdbid:i subskiplsn:t subname:d subowner:i subenabled:b subbinary:b substream:t subtwophasestate:t subdisableonerr:b subpasswordrequired:b subrunasowner:b subfailover:b subconninfo:t subslotname:d subsynccommit:t subpublications:a suborigin:t",
    ),
    ("pg_transform", "oid:i trftype:i trflang:i trffromsql:i trftosql:i"),
    ("pg_ts_config", "oid:i cfgname:d cfgnamespace:i cfgowner:i cfgparser:i"),
    ("pg_ts_config_map", "mapcfg:i maptokentype:4 mapseqno:4 mapdict:i"),
    ("pg_ts_dict", "oid:i dictname:d dictnamespace:i dictowner:i dicttemplate:i dictinitoption:t"),
    (
        "pg_ts_parser",
        "oid:i prsname:d prsnamespace:i prsstart:i prstoken:i prsend:i prsheadline:i prslextype:i",
    ),
    ("pg_ts_template", "oid:i tmplname:d tmplnamespace:i tmplinit:i tmpllexize:i"),
    ("pg_user_mapping", "oid:i umuser:i umserver:i umoptions:a"),
    ("pg_user_mappings", "umid:i srvid:i srvname:d umuser:i usename:d umoptions:a"),
];
