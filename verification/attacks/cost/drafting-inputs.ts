import { BESIDE_TEMPLATES_MS, BUSY, type Input } from './input.ts';
import type { Reply } from '../victim.ts';
import type { World } from './world.ts';

/** Ten times the limit for one batch. */
const SETTLED_MS = 60_000;
const NEIGHBOR_WITHIN_MS = 10_000;
const POLL_MS = 200;
const JSON_OF_KEY = (secret: string) => ({
  'content-type': 'application/json',
  authorization: `Bearer ${secret}`,
});

/** Publishing renders without facts, so it skips the expensive part. Events of the attack have the property. */
const IF_GO = (text: string): string => `{% if event.go == "yes" %}${text}{% endif %}`;
const LOOP = (text: string): string => IF_GO(`{% for i in (1..9000) %}${text}{% endfor %}`);
const COLUMNS = 256;
const TABLE = ['|a'.repeat(COLUMNS), '|-'.repeat(COLUMNS), ''].join('\n');
const LARGE_TABLE = TABLE + '|\n'.repeat(COLUMNS);
const SMALL_TABLE = TABLE + '|\n'.repeat((8_000 - TABLE.length) / 2);

/** Markdown that costs as much as possible once it is rendered with the facts of an event. It must be published. */
export const PUBLISHED_BODIES: Record<string, string> = {
  'a key of 90,000 characters': LOOP(`{{ user["${'k'.repeat(90_000)}"] }}`),
  'a key of 90,000 invisible characters': LOOP(`{{ user["${'\u200B'.repeat(90_000)}"] }}`),
  'an output of 90,000 invisible characters': LOOP(`{{ "${'\u200B'.repeat(90_000)}" }}`),
  'an argument of 90,000 characters': LOOP(`{{ "a" | append: "${'k'.repeat(90_000)}" | size }}`),
  'a date format of 90,000 characters': LOOP(
    `{{ event.occurred_at | date: locale: "de", "${'%A'.repeat(45_000)}" }}`,
  ),
  'a date format of five names, repeated': LOOP(`{{ event.occurred_at | date: "%A%B%a%b%p" }}`),
  'comparisons with 90,000 characters': LOOP(
    `{% if user.name contains "${'k'.repeat(90_000)}" %}{% endif %}`,
  ),
  'a table of 65,536 cells for one event': IF_GO(`\n${LARGE_TABLE}`),
  'a table in 8 kB for one event': IF_GO(`\n${SMALL_TABLE}`),
  '2,660 open images': '![['.repeat(2_660),
};

type RefusedBody = { body: string; message: RegExp };

/** Markdown that must be refused with this message when it is published. */
export const REFUSED_BODIES: Record<string, RefusedBody> = {
  'a table of 65,536 cells': { body: LARGE_TABLE, message: /tables of up to 66,306 cells; at most 5,000/ },
  'a table in 8 kB': { body: SMALL_TABLE, message: /tables of up to 896,673 cells; at most 5,000/ },
};

export function draftingInputs(): Input[] {
  const published = Object.entries(PUBLISHED_BODIES).flatMap(([name, body], n) => [
    drafting(`event that drafts: ${name}`, { body, event: `cost_draft_${n}`, isSent: false }),
    drafting(`draft that sends: ${name}`, { body, event: `cost_send_${n}`, isSent: true }),
  ]);
  const refusedInputs = Object.entries(REFUSED_BODIES).map(([name, kind]) => refusedInput(name, kind));
  return [...published, ...refusedInputs];
}

function publishPath({ victim }: World, name: string): string {
  return `POST /projects/${victim.projectId}/templates/${name}/publish`;
}

function publishing(body: string): object {
  const source = { format: 'markdown', subject: 'Cost', preheader: '', body };
  return { source, version: null, seen: null, follow: false };
}

/** Finds a body that is refused although it must be published, or the other way round. `refusal`: null if it must be published. */
export function checkPublish(
  { status, text }: Pick<Reply, 'status' | 'text'>,
  refusal: RegExp | null,
): string[] {
  if (refusal === null)
    return status === 200
      ? []
      : [`publishing is answered ${status}: the attack did not arrive: ${shorten(text)}`];
  const isAsNamed = status === 422 && refusal.test(text);
  return isAsNamed ? [] : [`publishing is answered ${status}, not refused with ${refusal}: ${shorten(text)}`];
}

function shorten(text: string): string {
  return text.slice(0, 300);
}

function refusedInput(name: string, { body, message }: RefusedBody): Input {
  let problems: string[] = [];
  return {
    name: `publish, refused: ${name}`,
    sender: 'editor',
    livezMaxMs: BESIDE_TEMPLATES_MS,
    expectedStatuses: [422],
    mayGet: BUSY,
    prepare: async (world) => {
      const reply = await world.victim.owner(publishPath(world, 'cost_refused'), publishing(body));
      problems = checkPublish(reply, message);
    },
    send: (world) => world.dashboard(publishPath(world, 'cost_refused'), publishing(body)),
    settle: () => Promise.resolve(problems),
  };
}

type Kind = { body: string; event: string; isSent: boolean };

let users = 0;

function drafting(name: string, kind: Kind): Input {
  let problems: string[] = [];
  return {
    name,
    sender: 'API key',
    livezMaxMs: BESIDE_TEMPLATES_MS,
    expectedStatuses: [202],
    mayGet: BUSY,
    prepare: async (world) => {
      problems = await prepare(world, kind);
    },
    send: ({ send, secret }) => {
      users += 1;
      return sendEvent(send, { secret, event: kind.event, user: userId(users) });
    },
    settle: async (world) => (problems.length > 0 ? problems : settle(world, kind)),
  };
}

/** Returns the id of the n-th user of the world. */
function userId(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

type SentEvent = { secret: string; event: string; user: string };

function sendEvent(send: World['send'], { secret, event, user }: SentEvent): Promise<number> {
  const body = JSON.stringify({ external_user_id: user, name: event, properties: { go: 'yes' } });
  return send({ requestLine: 'POST /api/v1/events', headers: JSON_OF_KEY(secret), body });
}

const NEIGHBOR_RULE = 'cost_neighbor';

/** Publishes the template and creates its rule. Returns what went wrong. */
async function prepare(world: World, { body, event, isSent }: Kind): Promise<string[]> {
  const { owner, victim, neighborId } = world;
  const attacked = `/projects/${victim.projectId}`;
  const settings = { autopilot: '1s', quiet_hours: 'off', frequency_cap: 'off', throttle: 'off' };
  await owner(`PATCH ${attacked}/settings`, { settings });
  const reply = await victim.owner(publishPath(world, event), publishing(body));
  const problems = checkPublish(reply, null);
  if (problems.length > 0) return problems;
  const rule = { mode: isSent ? 'autopilot' : 'draft', when: { event }, steps: [{ draft: event }] };
  await owner(`POST ${attacked}/rules`, { document: { ...rule, name: event } });
  await owner(`POST ${attacked}/rules/${event}/switch`, { on: true });
  if (world.hasNeighborRule) return [];
  const steps = [{ draft: { subject: 'Hello', preheader: '', body: 'Hello.' } }];
  const document = { name: NEIGHBOR_RULE, mode: 'draft', when: { event: NEIGHBOR_RULE }, steps };
  await owner(`POST /projects/${neighborId}/rules`, { document });
  await owner(`POST /projects/${neighborId}/rules/${NEIGHBOR_RULE}/switch`, { on: true });
  world.hasNeighborRule = true;
  return [];
}

/** Waits until every record is processed and every draft has an end. In that time another project drafts an email. */
async function settle(world: World, { event, isSent }: Kind): Promise<string[]> {
  const [ownDraft, neighbor] = await Promise.all([settleOwn(world, event, isSent), draftOfNeighbor(world)]);
  return [...ownDraft, ...neighbor];
}

async function settleOwn({ victim }: World, event: string, isSent: boolean): Promise<string[]> {
  const { projectId } = victim;
  const endsAt = performance.now() + SETTLED_MS;
  for (;;) {
    const state = await victim.database(async (db) => {
      const { rows } = await db.query<State>(STATE, [projectId, event, isSent]);
      return rows[0];
    });
    if (!state?.has_rule) return ['the rule does not exist: the attack did not arrive'];
    if (state.waiting === 0 && state.open === 0)
      return state.drafts + state.dead > 0 ? [] : ['no draft was created: the attack did not arrive'];
    if (performance.now() > endsAt)
      return [`${state.waiting} records and ${state.open} drafts still wait after ${SETTLED_MS / 1_000} s`];
    await pause();
  }
}

type State = { has_rule: boolean; waiting: number; dead: number; drafts: number; open: number };

/** `$3`: drafts are sent on their own, so a draft that is neither sent nor held is open. */
const STATE = `
  SELECT EXISTS (SELECT FROM rule WHERE project_id = $1 AND name = $2) AS has_rule,
    (SELECT count(*)::int FROM ingest_queue WHERE project_id = $1) AS waiting,
    (SELECT count(*)::int FROM dead_letter WHERE project_id = $1) AS dead,
    count(*)::int AS drafts,
    (count(*) FILTER (WHERE $3::boolean AND d.ended_at IS NULL AND d.state <> 'held'))::int AS open
  FROM draft d JOIN rule r ON r.project_id = d.project_id AND r.id = d.rule_id
  WHERE d.project_id = $1 AND r.name = $2`;

async function draftOfNeighbor({
  send,
  neighbor,
  neighborId,
  victim,
  hasNeighborRule,
}: World): Promise<string[]> {
  if (!hasNeighborRule) return [];
  users += 1;
  const user = `neighbor-${users}`;
  const startedAt = performance.now();
  const status = await sendEvent(send, { secret: neighbor, event: NEIGHBOR_RULE, user });
  if (status !== 202) return [`an event of another project is answered ${status}`];
  while (performance.now() - startedAt < NEIGHBOR_WITHIN_MS) {
    const { rows } = await victim.database((db) => db.query(DRAFT, [neighborId, user]));
    if (rows.length > 0) return [];
    await pause();
  }
  return [`another project gets no draft within ${NEIGHBOR_WITHIN_MS / 1_000} s`];
}

const DRAFT = 'SELECT FROM draft WHERE project_id = $1 AND external_user_id = $2';

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, POLL_MS);
  });
}
