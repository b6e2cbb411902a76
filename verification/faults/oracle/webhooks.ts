import type { AttemptRow, DeliveryRow, EndpointRow, Facts, Hook, WebhookRow } from './facts.ts';
import type { Findings } from './verdict.ts';

/**
 * Checks I7: each outcome is delivered once, under one id, to every subscribed endpoint. A delivered one was acknowledged, an abandoned one
 * had all its attempts, and a pending one will be attempted. Checks I8: every POST that arrived has a valid, timely signature and the same
 * bytes for its id. It was recorded as an attempt before it was sent.
 */
export function judgeWebhooks(facts: Facts, findings: Findings): void {
  judgeOutcomes(facts, findings);
  const told = index(facts);
  judgeDeliveries(facts, told, findings);
  for (const hook of facts.hooks) judgePost(hook, told, { faults: facts.faults, findings });
  judgeWire(facts, told, findings);
}

/** Uncertain outcomes are not delivered. */
const UNCERTAIN = 'unverified';
const DELETED = 'deleted';

function judgeOutcomes({ rows }: Facts, findings: Findings): void {
  const byOutcome = Map.groupBy(rows.webhooks, ({ outcome }) => outcome);
  for (const { id, project, class: kind } of rows.outcomes) {
    const webhooks = byOutcome.get(id) ?? [];
    if (webhooks.length !== (kind === UNCERTAIN ? 0 : 1))
      findings.add(
        'I7',
        'an outcome does not have one webhook',
        `outcome ${id} of project ${project}: ${webhooks.length}`,
      );
  }
  const outcomes = new Set(rows.outcomes.map(({ id }) => id));
  for (const { id, outcome } of rows.webhooks)
    if (outcome !== null && !outcomes.has(outcome)) findings.add('I7', 'a webhook without its outcome', id);
  judgeWanted({ rows }, findings);
}

function judgeWanted({ rows }: Pick<Facts, 'rows'>, findings: Findings): void {
  const endpoints = Map.groupBy(rows.endpoints, ({ project }) => project);
  const known = new Set(rows.deliveries.map(placeOf));
  for (const webhook of rows.webhooks)
    for (const endpoint of endpoints.get(webhook.project) ?? []) {
      const place = placeOf({ webhook: webhook.id, endpoint: endpoint.id });
      if (wants(endpoint, webhook) && !known.has(place))
        findings.add(
          'I7',
          'an endpoint is not told what it wants',
          `webhook ${webhook.id} to ${endpoint.url}`,
        );
    }
}

function wants({ types, createdAt, disabledReason }: EndpointRow, webhook: WebhookRow): boolean {
  const isThere = createdAt <= webhook.createdAt && disabledReason !== DELETED;
  return isThere && (types === null || types.includes(webhook.type));
}

const placeOf = ({ webhook, endpoint }: { webhook: string; endpoint: string }): string =>
  `${webhook} ${endpoint}`;

/** Indexes by delivery. */
type Told = {
  endpoints: Map<string, EndpointRow>;
  webhooks: Map<string, WebhookRow>;
  attempts: Map<string, AttemptRow[]>;
  posts: Map<string, Hook[]>;
};

function index({ rows, hooks }: Facts): Told {
  const endpoints = new Map(rows.endpoints.map((endpoint) => [new URL(endpoint.url).pathname, endpoint]));
  return {
    endpoints,
    webhooks: new Map(rows.webhooks.map((webhook) => [webhook.id, webhook])),
    attempts: Map.groupBy(rows.attempts, placeOf),
    posts: Map.groupBy(hooks, (hook) => {
      const endpoint = endpoints.get(hook.endpoint)?.id ?? hook.endpoint;
      return placeOf({ webhook: idOf(hook), endpoint });
    }),
  };
}

const idOf = ({ webhookId }: Hook): string => webhookId.replace(/^msg_/, '');
const isGood = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/** From the retry schedule of the contract. */
const TRIES_MAX = 10;

function judgeDeliveries({ rows, quietAt }: Facts, told: Told, findings: Findings): void {
  const endpoints = new Map(rows.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  for (const delivery of rows.deliveries) {
    const place = placeOf(delivery);
    const attempts = told.attempts.get(place) ?? [];
    const taken = (told.posts.get(place) ?? []).some(({ answered }) => isGood(answered));
    const endpoint = endpoints.get(delivery.endpoint);
    const name = `webhook ${delivery.webhook} to ${endpoint?.url ?? delivery.endpoint}, ${attempts.length} attempts`;
    const complain = (what: string): void => findings.add('I7', what, name);
    judgeEnd(delivery, { attempts, taken, endpoint, complain });
    if (delivery.state === 'pending') judgePending(delivery, { attempts, quietAt, complain });
    if (attempts.length !== delivery.attempts || attempts.some(({ number }) => number > delivery.attempts))
      findings.add('I8', 'attempts are missing in the log', `${name} of ${delivery.attempts}`);
  }
}

type Ending = {
  attempts: AttemptRow[];
  /** True if the endpoint ever acknowledged it. */
  taken: boolean;
  endpoint: EndpointRow | undefined;
  complain: (what: string) => void;
};

function judgeEnd({ state, tries }: DeliveryRow, { attempts, taken, endpoint, complain }: Ending): void {
  const isDelivered = state === 'delivered';
  if (isDelivered && !taken) complain('a delivery is recorded as delivered, but no endpoint accepted it');
  if (isDelivered !== attempts.some(({ status }) => isGood(status)))
    complain('a delivery is not what its attempts say');
  if (state === 'exhausted' && (tries !== TRIES_MAX || attempts.length < TRIES_MAX))
    complain('a delivery was given up before its last try');
  if ((state === 'missed' || state === 'canceled') && (endpoint?.disabledAt ?? null) === null)
    complain(`a delivery is ${state}, and its endpoint is not disabled`);
}

type Pending = { attempts: AttemptRow[]; quietAt: number | null; complain: (what: string) => void };

const LATE_MS = 60_000;
/** The maximum delay of the schedule, including the delay that an endpoint may request. */
const PUT_OFF_MOST_MS = 2 * 24 * 1.2 * 3_600_000;

function judgePending({ nextAt }: DeliveryRow, { attempts, quietAt, complain }: Pending): void {
  if (quietAt === null) return;
  if (nextAt === null || nextAt < quietAt - LATE_MS) complain('a delivery is due and stays');
  else if (nextAt > quietAt + PUT_OFF_MOST_MS) complain('a delivery is put off for longer than any schedule');
  if (attempts.length === 0 && nextAt !== null && nextAt < quietAt) complain('a delivery was never tried');
}

const CLOCKS_MS = 1_000;
/** The tolerance of receivers. */
const FRESH_MS = 5_000;
/** How long the latest fault may delay a POST in flight. */
const FAULT_LASTS_MS = 2 * 60_000;

type Judging = { faults: Facts['faults']; findings: Findings };

function judgePost(hook: Hook, { endpoints, webhooks, attempts }: Told, { faults, findings }: Judging): void {
  const name = `${hook.webhookId} to ${hook.endpoint} at ${new Date(hook.at).toISOString()}`;
  const endpoint = endpoints.get(hook.endpoint);
  const webhook = webhooks.get(idOf(hook));
  if (!hook.verified) findings.add('I8', 'a POST does not verify', name);
  const signedAt = Number(hook.timestamp) * 1_000;
  const isLate =
    hook.at - signedAt > FRESH_MS + CLOCKS_MS &&
    !faults.some(({ at }) => at > signedAt - FAULT_LASTS_MS && at < hook.at);
  if (isLate || signedAt > hook.at + FRESH_MS)
    findings.add('I8', 'a POST is not of its time', `${name}, signed ${hook.timestamp}`);
  if (!webhook) return findings.add('I7', 'a POST under an id that no webhook has', name);
  if (hook.body !== webhook.body) findings.add('I8', 'a POST has other bytes than its webhook', name);
  if (endpoint?.project !== webhook.project)
    return findings.add('I12', 'an endpoint is told of another project', name);
  const known = attempts.get(placeOf({ webhook: webhook.id, endpoint: endpoint.id })) ?? [];
  if (!known.some(({ startedAt }) => startedAt <= hook.at + CLOCKS_MS))
    findings.add('I8', 'a POST came before its attempt was written down', name);
}

/** Each attempt has a new signature. The same signature twice is one attempt, repeated because its connection was dead. */
function judgeWire({ rows }: Facts, { posts, attempts }: Told, findings: Findings): void {
  const known = new Set(rows.deliveries.map(placeOf));
  for (const [place, some] of posts) {
    const signed = new Set(some.map(({ signature }) => signature)).size;
    const written = attempts.get(place)?.length ?? 0;
    if (known.has(place) && signed > written)
      findings.add(
        'I8',
        'there were more POSTs than attempts in the log',
        `${place}: ${signed} of ${written}`,
      );
  }
}
