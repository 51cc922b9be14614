//! Views of what there is none of: their columns, as PostgreSQL has them.

/// A view and its columns, each with the letter of its type ([`ViewBuilder`](crate::views::ViewBuilder)).
pub(super) const NOTHING: &[(&str, &str)] = &[
    ("pg_foreign_table", "ftrelid:# ftserver:# ftoptions:a"),
    ("pg_inherits", "inhrelid:# inhparent:# inhseqno:4 inhdetachpending:b"),
    (
        "pg_trigger",
        "oid:# tgrelid:# tgname:d tgenabled:c tgisinternal:b tgparentid:# tgconstraint:# tgfoid:# tgtype:2 tgargs:t",
    ),
    ("pg_shdescription", "objoid:# classoid:# description:t"),
    (
        "pg_aggregate",
        "aggfnoid:# aggkind:c aggnumdirectargs:2 aggtransfn:# aggfinalfn:# aggcombinefn:# aggserialfn:# aggdeserialfn:# aggmtransfn:# aggminvtransfn:# aggmfinalfn:# aggfinalextra:b aggmfinalextra:b aggfinalmodify:c aggmfinalmodify:c aggsortop:# aggtranstype:# aggtransspace:4 aggmtranstype:# aggmtransspace:4 agginitval:t aggminitval:t",
    ),
    (
        "pg_amop",
        "oid:# amopfamily:# amoplefttype:# amoprighttype:# amopstrategy:2 amoppurpose:c amopopr:# amopmethod:# amopsortfamily:#",
    ),
    ("pg_amproc", "oid:# amprocfamily:# amproclefttype:# amprocrighttype:# amprocnum:2 amproc:#"),
    ("pg_cast", "oid:# castsource:# casttarget:# castfunc:# castcontext:c castmethod:c"),
    (
        "pg_conversion",
        "oid:# conname:d connamespace:# conowner:# conforencoding:4 contoencoding:4 conproc:# condefault:b",
    ),
    ("pg_db_role_setting", "setdatabase:# setrole:# setconfig:a"),
    ("pg_default_acl", "oid:# defaclrole:# defaclnamespace:# defaclobjtype:c defaclacl:a"),
    ("pg_event_trigger", "oid:# evtname:d evtevent:d evtowner:# evtfoid:# evtenabled:c evttags:a"),
    (
        "pg_foreign_data_wrapper",
        "oid:# fdwname:d fdwowner:# fdwhandler:# fdwvalidator:# fdwacl:a fdwoptions:a",
    ),
    (
        "pg_foreign_server",
        "oid:# srvname:d srvowner:# srvfdw:# srvtype:t srvversion:t srvacl:a srvoptions:a",
    ),
    ("pg_init_privs", "objoid:# classoid:# objsubid:4 privtype:c initprivs:a"),
    ("pg_largeobject_metadata", "oid:# lomowner:# lomacl:a"),
    (
        "pg_operator",
        "oid:# oprname:d oprnamespace:# oprowner:# oprkind:c oprcanmerge:b oprcanhash:b oprleft:# oprright:# oprresult:# oprcom:# oprnegate:# oprcode:# oprrest:# oprjoin:#",
    ),
    ("pg_opfamily", "oid:# opfmethod:# opfname:d opfnamespace:# opfowner:#"),
    ("pg_parameter_acl", "oid:# parname:t paracl:a"),
    (
        "pg_partitioned_table",
        "partrelid:# partstrat:c partnatts:2 partdefid:# partattrs:k partclass:o partcollation:o partexprs:t",
    ),
    (
        "pg_policy",
        "oid:# polname:d polrelid:# polcmd:c polpermissive:b polroles:l polqual:t polwithcheck:t",
    ),
    ("pg_prepared_xacts", "transaction:i gid:t prepared:m owner:d database:d"),
    (
        "pg_publication",
        "oid:# pubname:d pubowner:# puballtables:b pubinsert:b pubupdate:b pubdelete:b pubtruncate:b pubviaroot:b pubgencols:t",
    ),
    ("pg_publication_namespace", "oid:# pnpubid:# pnnspid:#"),
    ("pg_publication_rel", "oid:# prpubid:# prrelid:# prqual:t prattrs:k"),
    ("pg_rules", "schemaname:d tablename:d rulename:d definition:t"),
    ("pg_seclabel", "objoid:# classoid:# objsubid:4 provider:t label:t"),
    (
        "pg_seclabels",
        "objoid:# classoid:# objsubid:4 objtype:t objnamespace:# objname:t provider:t label:t",
    ),
    ("pg_shdepend", "dbid:# classid:# objid:# objsubid:4 refclassid:# refobjid:# deptype:c"),
    ("pg_shseclabel", "objoid:# classoid:# provider:t label:t"),
    (
        "pg_stat_user_indexes",
        "relid:# indexrelid:# schemaname:d relname:d indexrelname:d idx_scan:i last_idx_scan:m idx_tup_read:i idx_tup_fetch:i",
    ),
    (
        "pg_statistic_ext",
        "oid:# stxrelid:# stxname:d stxnamespace:# stxowner:# stxkeys:k stxstattarget:4 stxkind:a stxexprs:t",
    ),
    (
        "pg_statistic_ext_data",
        "stxoid:# stxdinherit:b stxdndistinct:t stxddependencies:t stxdmcv:t stxdexpr:t",
    ),
    (
        "pg_subscription",
        "oid:# subdbid:# subskiplsn:t subname:d subowner:# subenabled:b subbinary:b substream:c subtwophasestate:c subdisableonerr:b subpasswordrequired:b subrunasowner:b subfailover:b subconninfo:t subslotname:d subsynccommit:t subpublications:a suborigin:t",
    ),
    ("pg_transform", "oid:# trftype:# trflang:# trffromsql:# trftosql:#"),
    ("pg_ts_config", "oid:# cfgname:d cfgnamespace:# cfgowner:# cfgparser:#"),
    ("pg_ts_config_map", "mapcfg:# maptokentype:4 mapseqno:4 mapdict:#"),
    ("pg_ts_dict", "oid:# dictname:d dictnamespace:# dictowner:# dicttemplate:# dictinitoption:t"),
    (
        "pg_ts_parser",
        "oid:# prsname:d prsnamespace:# prsstart:# prstoken:# prsend:# prsheadline:# prslextype:#",
    ),
    ("pg_ts_template", "oid:# tmplname:d tmplnamespace:# tmplinit:# tmpllexize:#"),
    ("pg_user_mapping", "oid:# umuser:# umserver:# umoptions:a"),
    ("pg_user_mappings", "umid:# srvid:# srvname:d umuser:# usename:d umoptions:a"),
    (
        "pg_available_extension_versions",
        "name:d version:t installed:b superuser:b trusted:b relocatable:b schema:d requires:e comment:t",
    ),
    (
        "pg_policies",
        "schemaname:d tablename:d policyname:d permissive:t roles:e cmd:t qual:t with_check:t",
    ),
    ("pg_publication_tables", "pubname:d schemaname:d tablename:d attnames:e rowfilter:t"),
    ("pg_replication_origin", "roident:# roname:t"),
    (
        "pg_replication_slots",
        "slot_name:d plugin:d slot_type:t datoid:# database:d temporary:b active:b active_pid:4 xmin:i catalog_xmin:i restart_lsn:t confirmed_flush_lsn:t wal_status:t safe_wal_size:i two_phase:b",
    ),
    (
        "pg_stat_replication",
        "pid:4 usesysid:# usename:d application_name:t client_addr:t client_hostname:t client_port:4 backend_start:m backend_xmin:i state:t sent_lsn:t write_lsn:t flush_lsn:t replay_lsn:t write_lag:t flush_lag:t replay_lag:t sync_priority:4 sync_state:t reply_time:m",
    ),
    ("pg_subscription_rel", "srsubid:# srrelid:# srsubstate:c srsublsn:t"),
];

/// The same of `information_schema`.
pub(super) const STANDARD_NOTHING: &[(&str, &str)] = &[
    (
        "column_options",
        "table_catalog:d table_schema:d table_name:d column_name:d option_name:d option_value:t",
    ),
    (
        "foreign_data_wrapper_options",
        "foreign_data_wrapper_catalog:d foreign_data_wrapper_name:d option_name:d option_value:t",
    ),
    (
        "foreign_data_wrappers",
        "foreign_data_wrapper_catalog:d foreign_data_wrapper_name:d authorization_identifier:d library_name:t foreign_data_wrapper_language:t",
    ),
    (
        "foreign_server_options",
        "foreign_server_catalog:d foreign_server_name:d option_name:d option_value:t",
    ),
    (
        "foreign_servers",
        "foreign_server_catalog:d foreign_server_name:d foreign_data_wrapper_catalog:d foreign_data_wrapper_name:d foreign_server_type:t foreign_server_version:t authorization_identifier:d",
    ),
    (
        "foreign_table_options",
        "foreign_table_catalog:d foreign_table_schema:d foreign_table_name:d option_name:d option_value:t",
    ),
    (
        "foreign_tables",
        "foreign_table_catalog:d foreign_table_schema:d foreign_table_name:d foreign_server_catalog:d foreign_server_name:d",
    ),
    (
        "triggered_update_columns",
        "trigger_catalog:d trigger_schema:d trigger_name:d event_object_catalog:d event_object_schema:d event_object_table:d event_object_column:d",
    ),
    (
        "triggers",
        "trigger_catalog:d trigger_schema:d trigger_name:d event_manipulation:t event_object_catalog:d event_object_schema:d event_object_table:d action_order:4 action_condition:t action_statement:t action_orientation:t action_timing:t action_reference_old_table:d action_reference_new_table:d action_reference_old_row:d action_reference_new_row:d created:m",
    ),
    (
        "user_mapping_options",
        "authorization_identifier:d foreign_server_catalog:d foreign_server_name:d option_name:d option_value:t",
    ),
    ("user_mappings", "authorization_identifier:d foreign_server_catalog:d foreign_server_name:d"),
];
