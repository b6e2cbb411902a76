/**
 * Statements about project rows that do not filter by project, by file and by a part of the text, each group with its reason. A test finds
 * every other one, and every entry here that is no longer needed (`src/tenants.test.ts`).
 */
export const ACROSS_PROJECTS: { why: string; statements: Record<string, string[]> }[] = [
  {
    why: 'Looks for who has something to do: it reads the places of that work, and each project is then worked on by itself',
    statements: {
      'modules/audiences/reads.ts': [
        `WHERE state = $1 AND state <> 'served'`,
        `WHERE state = 'building' AND state <> 'served'`,
      ],
      'modules/sending/domains/reads.ts': ['WHERE next_check_at <= $1', 'WHERE tracking_next_at <= $1'],
      'modules/review/digest-reads.ts': ['SELECT d.project_id FROM beckon.draft d'],
      'modules/users/events/reads.ts': [
        'SELECT DISTINCT project_id FROM beckon.counted_event',
        'SELECT 1 FROM beckon.counted_event',
      ],
      'modules/imports/reads.ts': [`WHERE state IN ('uploading', 'ready', 'checked', 'paused')`],
      'modules/imports/claim-store.ts': [
        `SELECT project_id FROM beckon.import WHERE state IN ('checking', 'running')`,
      ],
      'modules/inbound/replies/store.ts': ['SELECT project_id FROM beckon.reply WHERE forward_at <= $1'],
      'modules/inbound/reply-sources/store.ts': [
        'SELECT project_id FROM beckon.reply_source WHERE next_read_at <= $1',
      ],
      'modules/delivery/ask-rows.ts': ['SELECT DISTINCT project_id FROM beckon.email'],
      'modules/processing/look-for-work.ts': [
        'FROM beckon.ingest_queue WHERE project_id > $1 GROUP BY project_id',
      ],
      'modules/drafts/ai-drafting/store.ts': [
        'SELECT min(next_at) FROM beckon.ai_drafting',
        'SELECT project_id FROM beckon.ai_drafting WHERE next_at <= $1',
      ],
      'modules/inbound/tracking/hit-reads.ts': [
        'WHERE classify_at <= $1',
        'SELECT min(classify_at) FROM beckon.hit_count',
      ],
      'modules/processing/prune-marks.ts': [
        'WITH RECURSIVE place(project_id)',
        'SELECT DISTINCT project_id FROM beckon.person WHERE written_seq',
        'SELECT DISTINCT project_id FROM beckon.erasure',
      ],
      'modules/delivery/email-rows.ts': ['WHERE next_at < $1 ORDER BY next_at LIMIT 1000'],
      'platform/locks/store.ts': [
        'FROM beckon.project_timer WHERE work = $3',
        'SELECT min(next_at) FROM beckon.project_timer',
        'SELECT 1 FROM beckon.project_timer',
        'SELECT 1 FROM beckon.ingest_queue',
      ],
    },
  },
  {
    why: 'For all projects: requested by the operator of the installation, or needed by every process',
    statements: {
      'modules/sending/domains/reads.ts': [
        'SELECT DISTINCT tracking_host',
        `SELECT DISTINCT f ->> 'name' AS name`,
      ],
      'modules/sending/relays/reads.ts': [
        'FROM beckon.relay r WHERE r.id = $1',
        'SELECT EXISTS (SELECT 1 FROM beckon.relay_assignment)',
        'WHERE relay_project_id = $1',
      ],
      'modules/sending/relays/used-relays.ts': [
        `WHERE r.feedback_proven_at IS NULL AND (r.kind = 'smtp_url' OR EXISTS`,
      ],
      'modules/inbound/reply-sources/reads.ts': ['WHERE s.id = $1'],
      'modules/administration/project-store.ts': [
        'WHERE organization_id IS NULL RETURNING project_id',
        'SELECT count(*) AS projects FROM beckon.project',
      ],
      'modules/workspace/projects/reads.ts': [
        'FROM beckon.project ORDER BY project_id',
        'WHERE is_demo ORDER BY project_id',
        'WHERE name = $1 ORDER BY project_id',
      ],
      'modules/workspace/members/reads.ts': [
        'JOIN beckon.project p',
        'FROM beckon.project p WHERE p.organization_id = o.id',
        'WHERE organization_id = $1 ORDER BY project_id',
        'FROM beckon.project ORDER BY project_id',
      ],
      'platform/locks/store.ts': ['SELECT DISTINCT ahead_ms'],
      'modules/operations/metrics/depth-readings.ts': [
        'AS gauge',
        'WITH RECURSIVE head',
        'WITH head AS MATERIALIZED',
      ],
    },
  },
  {
    why: 'Re-encrypts values of the previous secret key, page by page; each row is then written by its key',
    statements: {
      'modules/sending/domains/reads.ts': ['FROM beckon.dkim_key WHERE (project_id, domain_id, slot) >'],
      'modules/webhooks/endpoints/reads.ts': [
        'FROM beckon.webhook_secret WHERE (project_id, endpoint_id, id) >',
      ],
      'modules/imports/reads.ts': ['encrypted_key AS was FROM beckon.import'],
      'modules/webhooks/listeners/store.ts': ['FROM beckon.webhook_listener WHERE (project_id, member_id) >'],
      'modules/sending/relays/reads.ts': ['WHERE (project_id, id) >'],
      'modules/inbound/reply-sources/reads.ts': ['WHERE s.project_id > $1'],
    },
  },
  {
    why: 'Is about a table and not about rows',
    statements: {
      'modules/users/events/partition-store.ts': [
        `'beckon.event'::regclass`,
        'LIKE beckon.event',
        'ATTACH PARTITION',
        'DETACH PARTITION',
      ],
    },
  },
  {
    why: 'Is made of parts, and another part says of which project',
    statements: {
      'platform/predicate/sql.ts': [
        'beckon.person_email x',
        'beckon.person_event x',
        'beckon.event x',
        'beckon.audience_member x',
      ],
      'modules/workspace/audit/store.ts': ['FROM beckon.audit a WHERE …'],
      'modules/review/needs.ts': ['FROM beckon.draft d WHERE …'],
      'modules/drafts/store.ts': ['DELETE FROM beckon.draft_move …', 'DELETE FROM beckon.draft_content …'],
      'modules/rules/event-history.ts': [
        'FROM beckon.event e WHERE …',
        'SELECT (extract(epoch FROM min(e.received_at))',
      ],
      'modules/users/people/store.ts': ['DELETE FROM beckon.person …', 'DELETE FROM beckon.person_email …'],
      'modules/profiles/merge-timeline.ts': ['FROM beckon.'],
      'modules/sending/emails/list-emails.ts': ['FROM beckon.email m WHERE …'],
      'modules/ingest/activity/page-store.ts': ['beckon.'],
      'modules/outcomes/suppressions/store.ts': ['FROM beckon.suppression WHERE … FOR UPDATE'],
      'modules/ingest/accept/statements.ts': ['WHERE project_id IN (…)'],
    },
  },
];
