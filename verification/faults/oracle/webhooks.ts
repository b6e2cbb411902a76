import { DELAYS_MS, TRIES_MAX } from '../../../packages/server/testing/oracles/webhook-schedule.ts';
import type { AttemptRow, DeliveryRow, EndpointRow, Facts, Hook, WebhookRow } from './facts.ts';
import type { Findings } from './findings.ts';

/**
 * Checks I7: each outcome is delivered once, under one id, to every subscribed endpoint. A delivered one was acknowledged, an abandoned one
 * had all its attempts, and a pending one will be attempted. Checks I8: every POST that arrived has a valid, timely signature and the same
 * bytes for its id. It was recorded as an attempt before it was sent.
 */
export function checkWebhooks(facts: Facts, findings: Findings): void {
  checkOutcomes(facts, findings);
  const webhookIndex = indexFacts(facts);
  checkDeliveries(facts, webhookIndex, findings);
  for (const hook of facts.hooks) checkPost(hook, webhookIndex, { faults: facts.faults, findings });
  checkSignatures(facts, webhookIndex, findings);
}

/** Uncertain outcomes are not delivered. */
const UNCERTAIN = 'unverified';
const DELETED = 'deleted';

function checkOutcomes({ rows }: Facts, findings: Findings): void {
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
  checkSubscriptions({ rows }, findings);
}

function checkSubscriptions({ rows }: Pick<Facts, 'rows'>, findings: Findings): void {
  const endpoints = Map.groupBy(rows.endpoints, ({ project }) => project);
  const deliveryKeys = new Set(rows.deliveries.map(deliveryKeyOf));
  for (const webhook of rows.webhooks)
    for (const endpoint of endpoints.get(webhook.project) ?? []) {
      const deliveryKey = deliveryKeyOf({ webhook: webhook.id, endpoint: endpoint.id });
      if (isSubscribed(endpoint, webhook) && !deliveryKeys.has(deliveryKey))
        findings.add(
          'I7',
          'a subscribed endpoint has no delivery',
          `webhook ${webhook.id} to ${endpoint.url}`,
        );
    }
}

function isSubscribed({ types, createdAt, disabledReason }: EndpointRow, webhook: WebhookRow): boolean {
  const exists = createdAt <= webhook.createdAt && disabledReason !== DELETED;
  return exists && (types === null || types.includes(webhook.type));
}

const deliveryKeyOf = ({ webhook, endpoint }: { webhook: string; endpoint: string }): string =>
  `${webhook} ${endpoint}`;

/** Indexes by delivery. */
type WebhookIndex = {
  endpoints: Map<string, EndpointRow>;
  webhooks: Map<string, WebhookRow>;
  attempts: Map<string, AttemptRow[]>;
  posts: Map<string, Hook[]>;
};

function indexFacts({ rows, hooks }: Facts): WebhookIndex {
  const endpoints = new Map(rows.endpoints.map((endpoint) => [new URL(endpoint.url).pathname, endpoint]));
  return {
    endpoints,
    webhooks: new Map(rows.webhooks.map((webhook) => [webhook.id, webhook])),
    attempts: Map.groupBy(rows.attempts, deliveryKeyOf),
    posts: Map.groupBy(hooks, (hook) => {
      const endpoint = endpoints.get(hook.endpoint)?.id ?? hook.endpoint;
      return deliveryKeyOf({ webhook: idOf(hook), endpoint });
    }),
  };
}

const idOf = ({ webhookId }: Hook): string => webhookId.replace(/^msg_/, '');
const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

function checkDeliveries({ rows, quietAt }: Facts, webhookIndex: WebhookIndex, findings: Findings): void {
  const endpoints = new Map(rows.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  for (const delivery of rows.deliveries) {
    const deliveryKey = deliveryKeyOf(delivery);
    const attempts = webhookIndex.attempts.get(deliveryKey) ?? [];
    const isAcknowledged = (webhookIndex.posts.get(deliveryKey) ?? []).some(({ replyStatus }) =>
      isSuccess(replyStatus),
    );
    const endpoint = endpoints.get(delivery.endpoint);
    const name = `webhook ${delivery.webhook} to ${endpoint?.url ?? delivery.endpoint}, ${attempts.length} attempts`;
    const addFinding = (problem: string): void => findings.add('I7', problem, name);
    checkEnd(delivery, { attempts, isAcknowledged, endpoint, addFinding });
    if (delivery.state === 'pending') checkPending(delivery, { attempts, quietAt, addFinding });
    if (attempts.length !== delivery.attempts || attempts.some(({ number }) => number > delivery.attempts))
      findings.add('I8', 'attempts are missing in the log', `${name} of ${delivery.attempts}`);
  }
}

type DeliveryFacts = {
  attempts: AttemptRow[];
  /** True if the endpoint ever acknowledged it. */
  isAcknowledged: boolean;
  endpoint: EndpointRow | undefined;
  addFinding: (problem: string) => void;
};

function checkEnd(
  { state, tries }: DeliveryRow,
  { attempts, isAcknowledged, endpoint, addFinding }: DeliveryFacts,
): void {
  const isDelivered = state === 'delivered';
  if (isDelivered && !isAcknowledged)
    addFinding('a delivery is recorded as delivered, but no endpoint accepted it');
  if (isDelivered !== attempts.some(({ status }) => isSuccess(status)))
    addFinding('a delivery contradicts its attempts');
  if (state === 'exhausted' && (tries !== TRIES_MAX || attempts.length < TRIES_MAX))
    addFinding('a delivery was exhausted before its last try');
  if ((state === 'missed' || state === 'canceled') && (endpoint?.disabledAt ?? null) === null)
    addFinding(`a delivery is ${state}, but its endpoint is not disabled`);
}

type PendingContext = {
  attempts: AttemptRow[];
  quietAt: number | null;
  addFinding: (problem: string) => void;
};

const LATE_MS = 60_000;
/** The longest delay of the schedule with its jitter, twice because an endpoint may request a delay of its own. */
const DELAY_MAX_MS = 2 * 1.2 * Math.max(...DELAYS_MS);

function checkPending({ nextAt }: DeliveryRow, { attempts, quietAt, addFinding }: PendingContext): void {
  if (quietAt === null) return;
  if (nextAt === null || nextAt < quietAt - LATE_MS) addFinding('a due delivery was not attempted');
  else if (nextAt > quietAt + DELAY_MAX_MS)
    addFinding('a delivery is delayed longer than any schedule allows');
  if (attempts.length === 0 && nextAt !== null && nextAt < quietAt)
    addFinding('a delivery was never attempted');
}

const CLOCK_SKEW_MS = 1_000;
/** The tolerance of receivers. */
const TOLERANCE_MS = 5_000;
/** How long the latest fault may delay a POST in flight. */
const FAULT_DELAY_MS = 2 * 60_000;

type PostContext = { faults: Facts['faults']; findings: Findings };

function checkPost(
  hook: Hook,
  { endpoints, webhooks, attempts }: WebhookIndex,
  { faults, findings }: PostContext,
): void {
  const name = `${hook.webhookId} to ${hook.endpoint} at ${new Date(hook.at).toISOString()}`;
  const endpoint = endpoints.get(hook.endpoint);
  const webhook = webhooks.get(idOf(hook));
  if (!hook.verified) findings.add('I8', 'a POST has an invalid signature', name);
  const signedAt = Number(hook.timestamp) * 1_000;
  const isLate =
    hook.at - signedAt > TOLERANCE_MS + CLOCK_SKEW_MS &&
    !faults.some(({ at }) => at > signedAt - FAULT_DELAY_MS && at < hook.at);
  if (isLate || signedAt > hook.at + TOLERANCE_MS)
    findings.add('I8', 'a POST has a wrong timestamp', `${name}, signed ${hook.timestamp}`);
  if (!webhook) return findings.add('I7', 'a POST has an unknown webhook id', name);
  if (hook.body !== webhook.body) findings.add('I8', 'a POST differs from its webhook', name);
  if (endpoint?.project !== webhook.project)
    return findings.add('I12', 'an endpoint got a webhook of another project', name);
  const postAttempts = attempts.get(deliveryKeyOf({ webhook: webhook.id, endpoint: endpoint.id })) ?? [];
  if (!postAttempts.some(({ startedAt }) => startedAt <= hook.at + CLOCK_SKEW_MS))
    findings.add('I8', 'a POST arrived before its attempt was recorded', name);
}

/** Each attempt has a new signature. The same signature twice is one attempt, repeated because its connection was dead. */
function checkSignatures({ rows }: Facts, { posts, attempts }: WebhookIndex, findings: Findings): void {
  const deliveryKeys = new Set(rows.deliveries.map(deliveryKeyOf));
  for (const [deliveryKey, hooks] of posts) {
    const signatureCount = new Set(hooks.map(({ signature }) => signature)).size;
    const attemptCount = attempts.get(deliveryKey)?.length ?? 0;
    if (deliveryKeys.has(deliveryKey) && signatureCount > attemptCount)
      findings.add(
        'I8',
        'more POSTs than recorded attempts',
        `${deliveryKey}: ${signatureCount} of ${attemptCount}`,
      );
  }
}
