/** Compares the deliveries of outcomes with the journal of the receiving server. */

import { TRIES_MAX } from './webhook-schedule.ts';
import type { Database } from '../../src/platform/db/database.ts';
import type { Posted } from '../servers/hook-journal.ts';

export type WebhookFindings = {
  outcomes: number;
  /** The outcomes that came from hits. */
  ofHits: number;
  deliveries: number;
  exhausted: number;
  attempts: number;
  lost: number;
  posts: number;
  /** Copies of deliveries that had already been answered 2xx. */
  again: number;
  /** Every broken promise with its evidence. Expected to be empty. */
  wrong: string[];
};

export async function examineWebhooks(db: Database, posts: Posted[]): Promise<WebhookFindings> {
  const [counts] = await db.query<Omit<WebhookFindings, 'posts' | 'again' | 'wrong'>>(
    `SELECT (SELECT count(*) FROM beckon.outcome) AS outcomes,
       (SELECT count(DISTINCT (project_id, email_id, bot)) FROM beckon.hit) AS "ofHits",
       (SELECT count(*) FROM beckon.webhook_delivery) AS deliveries,
       (SELECT count(*) FROM beckon.webhook_delivery WHERE state = 'exhausted') AS exhausted,
       (SELECT count(*) FROM beckon.webhook_attempt) AS attempts,
       (SELECT count(*) FROM beckon.webhook_attempt WHERE error = 'lost') AS lost`,
  );
  if (!counts) throw new Error('nothing was counted');
  const deliveries = await listDeliveries(db);
  const wrong = [...(await faultsOfRows(db)), ...faultsOfPosts(posts, deliveries)];
  for (const [pair, group] of Map.groupBy(posts, pairOf)) {
    const delivery = deliveries.get(pair);
    if (delivery?.state === 'delivered' && !group.some(isGood))
      wrong.push(`delivered, but not taken: ${pair}`);
  }
  const reached = new Set(posts.map(pairOf));
  for (const [pair, { state }] of deliveries)
    if (state === 'delivered' && !reached.has(pair)) wrong.push(`delivered, but never posted: ${pair}`);
  return { ...counts, posts: posts.length, again: copiesOf(posts), wrong };
}

type StoredDelivery = { endpoint: string; webhook_id: string; state: string; attempts: number };

const pairOf = ({ endpoint, webhookId }: Pick<Posted, 'endpoint' | 'webhookId'>): string =>
  `${endpoint} ${webhookId}`;
const isGood = ({ status }: Posted): boolean => status >= 200 && status < 300;

async function listDeliveries(db: Database): Promise<Map<string, StoredDelivery>> {
  const rows = await db.query<StoredDelivery>(
    `SELECT regexp_replace(e.url, '.*/', '') AS endpoint, d.webhook_id, d.state, d.attempts FROM beckon.webhook_delivery d
     JOIN beckon.webhook_endpoint e ON e.project_id = d.project_id AND e.id = d.endpoint_id`,
  );
  return new Map(rows.map((row) => [pairOf({ endpoint: row.endpoint, webhookId: row.webhook_id }), row]));
}

/** Each statement under the description of the violation that it finds. */
const ROWS: Record<string, string> = {
  'an outcome without its one webhook': `SELECT o.id FROM beckon.outcome o LEFT JOIN beckon.webhook m
      ON m.project_id = o.project_id AND m.outcome_id = o.id
    WHERE o.class <> 'unverified' GROUP BY o.id HAVING count(m.id) <> 1`,
  'a webhook without an outcome': `SELECT m.id FROM beckon.webhook m LEFT JOIN beckon.outcome o
      ON o.project_id = m.project_id AND o.id = m.outcome_id WHERE o.id IS NULL`,
  'an endpoint that is not told what it wants': `SELECT m.id FROM beckon.webhook m
    JOIN beckon.webhook_endpoint e ON e.project_id = m.project_id AND (e.types IS NULL OR m.type = ANY (e.types))
    LEFT JOIN beckon.webhook_delivery d ON d.project_id = m.project_id AND d.webhook_id = m.id AND d.endpoint_id = e.id
    WHERE d.webhook_id IS NULL`,
  'an endpoint that is told what it does not want': `SELECT m.id FROM beckon.webhook_delivery d
    JOIN beckon.webhook m ON m.project_id = d.project_id AND m.id = d.webhook_id
    JOIN beckon.webhook_endpoint e ON e.project_id = d.project_id AND e.id = d.endpoint_id
    WHERE m.type <> ALL (e.types)`,
  'a delivery without its end': `SELECT webhook_id AS id FROM beckon.webhook_delivery
    WHERE state NOT IN ('delivered', 'exhausted') OR next_at IS NOT NULL`,
  'a delivery given up too early': `SELECT webhook_id AS id FROM beckon.webhook_delivery
    WHERE state = 'exhausted' AND (tries <> ${TRIES_MAX} OR attempts <> ${TRIES_MAX})`,
  'attempts that are not counted from one': `SELECT d.webhook_id AS id FROM beckon.webhook_delivery d
    LEFT JOIN beckon.webhook_attempt a USING (project_id, webhook_id, endpoint_id)
    GROUP BY d.project_id, d.webhook_id, d.endpoint_id, d.attempts
    HAVING count(a.number) <> d.attempts OR min(a.number) <> 1 OR max(a.number) <> d.attempts`,
  'an attempt without an end': `SELECT webhook_id AS id FROM beckon.webhook_attempt WHERE ended_at IS NULL`,
  'a delivery whose attempts say otherwise': `SELECT d.webhook_id AS id FROM beckon.webhook_delivery d
    WHERE (d.state = 'delivered') <> EXISTS (SELECT 1 FROM beckon.webhook_attempt a
      WHERE a.project_id = d.project_id AND a.webhook_id = d.webhook_id AND a.endpoint_id = d.endpoint_id
        AND a.status BETWEEN 200 AND 299)`,
};

async function faultsOfRows(db: Database): Promise<string[]> {
  const faults: string[] = [];
  for (const [what, text] of Object.entries(ROWS))
    for (const { id } of await db.query<{ id: string }>(text)) faults.push(`${what}: ${id}`);
  return faults;
}

function faultsOfPosts(posts: Posted[], deliveries: Map<string, StoredDelivery>): string[] {
  const digests = new Map<string, string>();
  return posts.flatMap((post) => {
    const delivery = deliveries.get(pairOf(post));
    const digest = digests.get(post.webhookId) ?? post.digest;
    digests.set(post.webhookId, digest);
    const faults = [
      delivery ? null : 'it is no delivery',
      delivery && delivery.attempts < post.ordinal ? 'there are more than attempts' : null,
      post.attempts < post.ordinal ? 'its attempt was not written down when it came' : null,
      post.digest === digest ? null : 'its body is another one',
      post.fault,
    ];
    return faults.flatMap((fault) => (fault === null ? [] : [`a POST, ${fault}: ${pairOf(post)}`]));
  });
}

function copiesOf(posts: Posted[]): number {
  let again = 0;
  for (const group of Map.groupBy(posts, pairOf).values()) {
    const first = group.findIndex(isGood);
    if (first !== -1) again += group.length - 1 - first;
  }
  return again;
}
