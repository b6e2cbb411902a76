/**
 * The location of each table in a database that is distributed over several nodes. `platform/migrations/tables.test.ts` checks that no table is
 * missing, and that each follows the rules required for distribution.
 *
 * - `tenant`: rows are stored with their project, by `column`. Rows of one `group` with the same value share a node, and a
 *   statement about one project reads one node.
 * - `reference`: a few rows that rarely change, copied to every node.
 * - `local`: only on the node of the configured address.
 */
export type Table =
  | { name: string; kind: 'tenant'; column: 'project_id' | 'last4'; group: 'project' | 'api_key' }
  | { name: string; kind: 'reference' | 'local' };

/** Referenced tables precede the tables that refer to them. */
const OF_PROJECTS = [
  'project',
  'import',
  'api_key_traffic',
  'api_key_use',
  'audience',
  'audience_day',
  'audience_timer',
  'audience_version',
  'audience_member',
  'audit',
  'billing_customer',
  'billing_object',
  'billing_snapshot',
  'activity',
  'counted_event',
  'dead_letter',
  'decision',
  'project_lock',
  'dkim_key',
  'draft',
  'draft_content',
  'draft_move',
  'ai_drafting',
  'erasure',
  'event',
  'event_dedupe',
  'event_property',
  'event_volume',
  'expected_event',
  'hit',
  'hit_count',
  'idempotency',
  'import_erased',
  'import_finding',
  'import_part',
  'ingest_queue',
  'ingest_log',
  'ingest_warning',
  'ingest_queue_state',
  'email',
  'email_mime',
  'test_inbox_email',
  'outcome',
  'person',
  'person_email',
  'person_event',
  'project_settings',
  'rate_limit',
  'relay',
  'relay_assignment',
  'relay_event',
  'reply',
  'reply_source',
  'reply_source_email',
  'rule',
  'rule_enrollment',
  'enrollment_record',
  'rule_timer',
  'rule_version',
  'run',
  'sandbox_advance',
  'saved_view',
  'send_bucket',
  'send_lock',
  'sending_domain',
  'suppression',
  'suppression_lift',
  'team_digest',
  'template',
  'template_unpublished',
  'template_version',
  'template_preview',
  'project_timer',
  'topic_unsubscribe',
  'tracking_link',
  'webhook_attempt',
  'webhook_delivery',
  'webhook_endpoint',
  'webhook_health',
  'webhook_listener',
  'webhook',
  'webhook_secret',
] as const;

/** One row each: the check value of the secret key, the origin of this database, and the key that hashes the addresses of erased users. */
const OF_INSTALLATION = ['installation', 'database_timeline', 'suppression_key'] as const;

/** Members belong to organizations, not to projects. */
const OF_TEAMS = [
  'team_account',
  'team_attempt',
  'team_device',
  'team_link',
  'team_member',
  'team_organization',
  'team_passkey',
  'team_session',
  'team_token',
  'team_two_factor',
  'team_user',
  'team_verification',
] as const;

export const TABLES: readonly Table[] = [
  ...OF_PROJECTS.map((name): Table => ({ name, kind: 'tenant', column: 'project_id', group: 'project' })),
  // A key is looked up before its project is known.
  { name: 'api_key', kind: 'tenant', column: 'last4', group: 'api_key' },
  ...OF_INSTALLATION.map((name): Table => ({ name, kind: 'reference' })),
  ...OF_TEAMS.map((name): Table => ({ name, kind: 'local' })),
];
