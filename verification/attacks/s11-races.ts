import { randomUUID } from 'node:crypto';
import type { Attack, Finding, Target } from './attack.ts';
import { liftLimits } from './routes.ts';
import { runTests } from './run-tests.ts';
import { dataOf, JSON_BODY, type Reply, type Victim } from './victim.ts';

const AT_ONCE = 100;
const KEYS = 10;
const DRAFTS = 20;

export const s11: Attack = {
  id: 'S11',
  title: 'races: one Idempotency-Key, one draft and one key, from many sides at once',
  passLine: `${AT_ONCE} requests with one key have one effect and one response; a draft has one final state; after a revocation every response is 401`,
  quick: true,
  async run(target) {
    const victim = await target.sharedVictim();
    return [
      ...(await sameKey(target, victim)),
      ...(await sameDraft(target, victim)),
      ...(await revoked(target, victim)),
      ...(await runTests(target, [
        'packages/server/src/modules/ingest/accept/accept.test.ts',
        'packages/server/src/modules/review/move-draft.test.ts',
        'packages/server/src/modules/drafts/drafts.test.ts',
      ])),
    ];
  },
};

function sendEvent(
  victim: Victim,
  secret: string,
  { body, key }: { body: object; key?: string },
): Promise<Reply> {
  const once = key === undefined ? {} : { 'idempotency-key': key };
  return victim.send('POST /api/v1/events', {
    headers: { ...JSON_BODY, authorization: `Bearer ${secret}`, ...once },
    body: JSON.stringify(body),
  });
}

/**
 * Sends concurrent requests with one idempotency key, half of them with another body. One wins, those with the same body get its response,
 * and the others get a conflict.
 */
async function sameKey(target: Target, victim: Victim): Promise<Finding[]> {
  const { secret } = await victim.newKey(victim.projectId, 'races');
  await liftLimits(victim);
  const findings: Finding[] = [];
  for (let n = 0; n < KEYS; n += 1) {
    const key = randomUUID();
    const bodies = ['a', 'b'].map((side) => ({ external_user_id: `racer-${n}`, name: `race_${n}_${side}` }));
    const replies = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, at) =>
        sendEvent(victim, secret, { body: bodies[n < KEYS / 2 ? 0 : at % 2] ?? {}, key }),
      ),
    );
    target.count('requests with one key', replies.length);
    const acceptedReplies = replies.filter(({ status }) => status === 202);
    const rest = replies.filter(({ status }) => status !== 202);
    if (new Set(acceptedReplies.map(({ text }) => text)).size !== 1)
      findings.push({ severity: 'high', title: `${acceptedReplies.length} answers to one key differ` });
    if (rest.some(({ status }) => status !== 422))
      findings.push({
        severity: 'high',
        title: 'another body with the same key is not refused',
        evidence: rest[0]?.text ?? '',
      });
  }
  const names = `race_%`;
  const { rows } = await victim.database(async (db) => {
    for (let polls = 0; polls < 600; polls += 1) {
      if ((await db.query('SELECT 1 FROM ingest_queue LIMIT 1')).rowCount === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return db.query<{ n: number }>(`SELECT count(*)::int AS n FROM event WHERE name LIKE $1`, [names]);
  });
  if (rows[0]?.n !== KEYS)
    findings.push({ severity: 'high', title: `${KEYS} keys had ${rows[0]?.n} effects` });
  return findings;
}

type Draft = { id: string; state: string };

/** Approves, skips and postpones one draft concurrently. The draft has one end, and its history is a chain. */
async function sameDraft(target: Target, victim: Victim): Promise<Finding[]> {
  const project = `/projects/${victim.projectId}`;
  const settings = { quiet_hours: 'off', frequency_cap: 'off', throttle: 'off' };
  await dataOf(victim.owner(`PATCH ${project}/settings`, { settings }));
  await dataOf(
    victim.owner(`POST ${project}/rules`, {
      document: {
        name: 'races',
        when: { event: 'raced' },
        mode: 'draft',
        deadline: '1h',
        steps: [{ draft: { subject: 'Hello', body: 'You' } }],
      },
    }),
  );
  await dataOf(victim.owner(`POST ${project}/rules/races/switch`, { on: true }));
  const { secret } = await victim.newKey(victim.projectId, 'drafts');
  await liftLimits(victim);
  for (let n = 0; n < DRAFTS; n += 1) {
    const headers = { ...JSON_BODY, authorization: `Bearer ${secret}` };
    const user = { external_user_id: `drafted-${n}`, email: `drafted-${n}@example.com` };
    await victim.send('POST /api/v1/users', { headers, body: JSON.stringify(user) });
    await sendEvent(victim, secret, { body: { external_user_id: user.external_user_id, name: 'raced' } });
  }
  const drafts = await draftsOf(victim);
  const findings: Finding[] = [];
  if (drafts.length < DRAFTS)
    findings.push({ severity: 'medium', title: `only ${drafts.length} drafts came about` });
  for (const { id } of drafts) {
    const later = new Date(Date.now() + 30 * 60_000).toISOString();
    const acts: [string, object][] = Array.from({ length: 24 }, (_, n) =>
      n % 3 === 0 ? ['approve', {}] : n % 3 === 1 ? ['skip', {}] : ['postpone', { until: later }],
    );
    const replies = await Promise.all(
      acts.map(([act, body]) => victim.owner(`POST ${project}/drafts/${id}/${act}`, body)),
    );
    target.count('moves of one draft', replies.length);
    const wrong = replies.filter(({ status }) => status !== 200 && status !== 409 && status !== 422);
    if (wrong.length > 0)
      findings.push({
        severity: 'high',
        title: `a concurrent move got ${wrong[0]?.status}`,
        evidence: wrong[0]?.text ?? '',
      });
    const successCount = replies.filter(({ status }) => status === 200).length;
    findings.push(...(await chainOf(victim, id, successCount)));
  }
  return findings;
}

type Move = { action: string; from_state: string | null; to_state: string };
const ACTS = new Set(['approve', 'skip', 'postpone']);

/**
 * Checks that each transition begins in the state where the previous one ended, that each was answered with 200, and that none follows a
 * skip.
 */
async function chainOf(victim: Victim, id: string, successCount: number): Promise<Finding[]> {
  const { rows } = await victim.database((db) =>
    db.query<Move>(
      'SELECT action, from_state, to_state FROM draft_move WHERE draft_id = $1 ORDER BY number',
      [id],
    ),
  );
  const problems: string[] = [];
  if (!rows.every(({ from_state: from }, n) => n === 0 || from === rows[n - 1]?.to_state))
    problems.push('the moves of a draft are no chain');
  const acts = rows.filter(({ action }) => ACTS.has(action));
  if (acts.length !== successCount)
    problems.push(`${successCount} moves of a draft were answered with 200, and it has ${acts.length}`);
  const skip = rows.findIndex(({ action }) => action === 'skip');
  if (skip >= 0 && rows.slice(skip + 1).some(({ action }) => ACTS.has(action)))
    problems.push('a draft was moved after it was skipped');
  return problems.map((title) => ({ severity: 'high', title, evidence: JSON.stringify(rows) }));
}

async function draftsOf(victim: Victim): Promise<Draft[]> {
  for (let polls = 0; ; polls += 1) {
    const drafts = (await dataOf(
      victim.owner(`GET /projects/${victim.projectId}/drafts?view=review&limit=100`),
    )) as Draft[];
    if (drafts.length >= DRAFTS || polls > 300) return drafts.slice(0, DRAFTS);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Checks that every request that begins after the response to a revocation gets 401. */
async function revoked(target: Target, victim: Victim): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let round = 0; round < 10; round += 1) {
    const { id, secret } = await victim.newKey(victim.projectId, `revoked-${round}`);
    await liftLimits(victim);
    const state = { isRevoked: false, isOver: false };
    const responses: { begunAfter: boolean; status: number }[] = [];
    const runClient = async (client: number): Promise<void> => {
      for (let n = 0; !state.isOver; n += 1) {
        const begunAfter = state.isRevoked;
        const { status } = await sendEvent(victim, secret, {
          body: { external_user_id: `r-${client}`, name: `n${n}` },
        });
        responses.push({ begunAfter, status });
      }
    };
    const clients = Array.from({ length: 8 }, (_, client) => runClient(client));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await dataOf(
      victim.owner(`POST /projects/${victim.projectId}/keys/${id}/revoke`, { label: `revoked-${round}` }),
    );
    state.isRevoked = true;
    while (responses.filter(({ begunAfter }) => begunAfter).length < 50)
      await new Promise((resolve) => setTimeout(resolve, 10));
    state.isOver = true;
    await Promise.all(clients);
    target.count('requests around a revocation', responses.length);
    const wrong = responses.filter(({ begunAfter, status }) =>
      begunAfter ? status !== 401 : status !== 202 && status !== 401,
    );
    if (wrong.length > 0)
      findings.push({
        severity: 'high',
        title: `${wrong.length} requests around a revocation were answered ${wrong[0]?.status}`,
      });
  }
  return findings;
}
