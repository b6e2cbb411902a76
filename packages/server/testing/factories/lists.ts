import { expect } from 'vitest';
import { createProject } from '../../src/modules/administration/create-project.ts';
import { deadLetterRecord } from '../../src/modules/ingest/index.ts';
import { testDashboard } from '../servers/dashboard.ts';
import { fixedClock } from './clock.ts';
import { openTestDatabase } from './database.ts';
import { openEngine } from './engine.ts';
import { putRecords } from './ingest-queue.ts';

export type ListRow = Record<string, unknown>;

/** A spreadsheet would run it. */
export const FORMULA = '=1+1';
export const ENDPOINT = '018f0000-0000-7000-8000-00000000e001';

/** Opens a project that has at least three rows in every list of the dashboard, and a dashboard to read them. */
export async function openLists() {
  const clock = fixedClock();
  const db = await openTestDatabase(clock);
  const engine = openEngine(db, clock);
  const dashboard = testDashboard(db);
  const projectId = (await createProject(db, { name: 'Acme' })).id;

  async function request<T = ListRow[]>(method: string, path: string, body?: object) {
    const answer = await dashboard.request<T>(`${method} /projects/${projectId}/${path}`, {
      ...(body ? { body } : {}),
      as: 'admin',
    });
    expect([answer.status, answer.json?.errors], path).toEqual([200, undefined]);
    return answer;
  }

  /** Reads all pages of a list. */
  async function rowsOf(path: string, query: Record<string, string>, limit: number): Promise<ListRow[]> {
    const rows: ListRow[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const search = new URLSearchParams({
        ...query,
        limit: String(limit),
        ...(cursor === '' ? {} : { cursor }),
      });
      const { json } = await request('GET', `${path}?${search.toString()}`);
      rows.push(...json.data);
      ({ cursor } = json.meta);
      expect(rows.length).toBeLessThan(100);
    }
    return rows;
  }

  async function makeRows(): Promise<void> {
    await putRecords(db, {
      projectId,
      kind: 'users',
      records: [{ external_user_id: 'u1', traits: { plan: 'pro' } }],
    });
    const event = { external_user_id: 'u1', name: FORMULA, properties: { seats: 1 } };
    for (const name of ['opened', 'closed', 'closed']) {
      await putRecords(db, { projectId, kind: 'events', records: [{ ...event, name }] });
      clock.advance(1_000);
    }
    await putRecords(db, { projectId, kind: 'events', records: [event] });
    await engine.settle();
    for (const [name, plan] of [
      ['Pro', 'pro'],
      ['Trial', 'trial'],
      [FORMULA, 'free'],
    ] as const)
      await request('POST', 'audiences', { name, definition: { trait: 'plan', equals: plan } });
    const draft = { subject: 'Hello', body: 'Hello' };
    const document = { name: FORMULA, when: { event: 'opened' }, steps: [{ draft }] };
    await request('POST', 'rules', { document });
    for (const name of ['a.csv', 'b.csv', FORMULA])
      await request('POST', 'imports', { kind: 'users', name, size_bytes: 10 });
    for (const label of ['Web', 'Worker', FORMULA]) await request('POST', 'keys', { label });
    for (const name of ['a.acme.test', 'b.acme.test', 'mail.acme.test'])
      await request('POST', 'domains', { name });
    await engine.settle();
  }

  /** Drafts to review, and three that a member decided about. */
  async function decideDrafts(): Promise<void> {
    const [rule] = (await rowsOf('rules', { filter: `name:"${FORMULA}"` }, 10)).map(({ id }) => id);
    await request('POST', `rules/${String(rule)}/switch`, { on: true, mode: 'autopilot' });
    clock.advance(1_000);
    for (const n of [1, 2, 3, 4, 5, 6]) {
      const user = { external_user_id: `d${n}`, email: `d${n}@x.test` };
      await putRecords(db, { projectId, kind: 'users', records: [user] });
      const event = { external_user_id: `d${n}`, name: 'opened', properties: {} };
      await putRecords(db, { projectId, kind: 'events', records: [event] });
    }
    await engine.settle();
    const ids = (await rowsOf('drafts', { filter: '-user:d4 -user:d5 -user:d6' }, 100)).map(({ id }) => id);
    expect(ids).toHaveLength(3);
    const skip = { kind: 'skip', reason: FORMULA };
    await request('POST', 'drafts/bulk', { ids: ids.slice(0, 2), action: skip });
    await request('POST', 'drafts/bulk', { ids: ids.slice(2, 3), action: { kind: 'approve' } });
  }

  /** Rows of these tables come from users, relays and mail servers, which are not here. */
  async function fillTables(): Promise<void> {
    const each = `FROM generate_series(1, 5) n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 h' AS at) t`;
    const texts = `CASE n WHEN 3 THEN '${FORMULA}' ELSE 'text ' || n END`;
    const statements = [
      `INSERT INTO beckon.person (project_id, external_user_id, name, traits, first_seen_at, last_seen_at)
       SELECT $1, 'p' || n, ${texts}, '{}', t.at - (n % 3) * interval '1 day', t.at ${each}`,
      `INSERT INTO beckon.email (project_id, draft_id, id, rule_id, external_user_id, address, template, state, counts, claimed_at)
       SELECT $1, md5('d' || n)::uuid, md5('m' || n)::uuid, md5('rule')::uuid, 'p' || n, 'p' || n || '@x.test', ${texts}, 'sent', true, t.at ${each}`,
      `INSERT INTO beckon.suppression (project_id, kind, value, reason, created_at, created_by)
       SELECT $1, CASE WHEN n < 4 THEN 'email' ELSE 'user' END, CASE n WHEN 3 THEN '${FORMULA}@x.test' ELSE 'p' || (6 - n) || CASE WHEN n < 4 THEN '@x.test' ELSE '' END END,
         'manual', t.at, 'engine' ${each}`,
      `INSERT INTO beckon.ingest_log (project_id, at, id, endpoint, status, code, requests, accepted, rejected, request_id)
       SELECT $1, t.at, md5('l' || n)::uuid, 'events', CASE WHEN n = 3 THEN 422 ELSE 202 END, CASE n WHEN 3 THEN '${FORMULA}' END, 1, 1, 0, 'r' || n ${each}`,
      `INSERT INTO beckon.reply (project_id, id, email_id, draft_id, external_user_id, inbound_id, kind, verified, received_at, from_address, from_name, subject, text)
       SELECT $1, md5('r' || n)::uuid, md5('m' || n)::uuid, md5('d' || n)::uuid, 'p' || n, 'i' || n, 'reply', 'recipient', t.at, 'p' || n || '@x.test', '', ${texts}, 'Thanks' ${each}`,
      `INSERT INTO beckon.test_inbox_email (project_id, id, copy, mail_from, rcpt_to, subject, external_user_id, raw, size, at)
       SELECT $1, md5('t' || n)::uuid, 1, 'b@x.test', 'p' || n || '@x.test', ${texts}, 'p' || n, '', 100, t.at ${each}`,
      `INSERT INTO beckon.webhook_endpoint (project_id, id, url, description, created_at, per_second, in_flight_max)
       SELECT $1, CASE n WHEN 1 THEN '${ENDPOINT}' ELSE md5('e' || n)::uuid END, 'https://hooks' || n || '.acme.test', ${texts}, t.at, 10, 4 ${each}`,
      `INSERT INTO beckon.webhook_health (project_id, endpoint_id, tokens, refilled_at)
       SELECT project_id, id, 1, created_at FROM beckon.webhook_endpoint WHERE project_id = $1`,
      `INSERT INTO beckon.topic_unsubscribe (project_id, kind, value, topic, created_at)
       SELECT $1, CASE WHEN n < 4 THEN 'email' ELSE 'user' END, 'p' || n || CASE WHEN n < 4 THEN '@x.test' ELSE '' END, ${texts}, t.at ${each}`,
      `INSERT INTO beckon.audience_member (project_id, external_user_id, version_id, since)
       SELECT $1, 'p' || n, v.version_id, t.at FROM beckon.audience_version v JOIN beckon.audience a ON a.project_id = v.project_id AND a.id = v.audience_id,
         generate_series(1, 5) n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 h' AS at) t
       WHERE v.project_id = $1 AND a.name = 'Pro' AND v.state = 'served'`,
      `INSERT INTO beckon.run (project_id, id, rule_id, version, external_user_id, key, state, variant, single, step, waits_for, next_at, anchor, enrolled_at)
       SELECT $1, md5('run' || n)::uuid, r.id, 1, 'p' || n, '', 'active', 'treatment', true, 0, 'time', t.at + interval '30 days',
         jsonb_build_object('kind', 'event', 'id', '', 'name', ${texts}, 'properties', '{}'::jsonb, 'occurred_at', 0, 'accepted_at', 0), t.at
       FROM beckon.rule r, generate_series(1, 5) n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 h' AS at) t
       WHERE r.project_id = $1 AND r.name = 'welcome'`,
      `INSERT INTO beckon.team_organization (id, name, created_at) SELECT 'lists' || $1::bigint, 'Acme', now()`,
      `UPDATE beckon.project SET organization_id = 'lists' || $1::bigint WHERE project_id = $1`,
      `INSERT INTO beckon.team_user (id, name, email, email_verified, created_at, updated_at)
       SELECT 'lists' || $1::bigint || n, ${texts}, 'p' || n || '@acme.test', true, t.at, t.at ${each}`,
      `INSERT INTO beckon.team_member (organization_id, user_id, role, created_at)
       SELECT 'lists' || $1::bigint, 'lists' || $1::bigint || n, CASE n WHEN 1 THEN 'owner' ELSE 'editor' END, t.at ${each}`,
      `INSERT INTO beckon.webhook (project_id, id, type, body, created_at)
       SELECT $1, md5('w' || n)::uuid, CASE n WHEN 3 THEN '${FORMULA}' ELSE 'email.opened' END, '{}', t.at ${each}`,
      `INSERT INTO beckon.webhook_delivery (project_id, webhook_id, endpoint_id, state, created_at)
       SELECT $1, md5('w' || n)::uuid, '${ENDPOINT}', CASE WHEN n % 2 = 0 THEN 'delivered' ELSE 'exhausted' END, t.at ${each}`,
    ];
    for (const statement of statements) await db.query(statement, [projectId]);
    for (const seq of [1, 2, 3])
      await deadLetterRecord(
        db,
        {
          projectId,
          seq,
          priority: 'live',
          kind: 'events',
          record: { name: `x${seq}` },
          acceptedAt: new Date(0),
        },
        { reason: seq === 3 ? FORMULA : `reason ${seq}`, at: new Date(0) },
      );
  }

  await makeRows();
  await fillTables();
  await decideDrafts();
  return { db, dashboard, projectId, request, rowsOf };
}
