import type { BotLikelihood } from '@beckon/contract';
import { isbot } from 'isbot';
import type { EmailRef } from '../../outcomes/index.ts';

/** A request for something in an email: its pixel, one of its links, or the hidden link. */
export type Hit = EmailRef & HitFacts;

/**
 * The facts that classification uses. `signs` are derived from the request on arrival. `agent` and `remote` are deleted before the rest.
 */
export type HitFacts = {
  kind: 'open' | 'click' | 'trap';
  /** The link number of a click, otherwise null. */
  link: number | null;
  /** In milliseconds. */
  at: number;
  signs: readonly HitSign[];
  agent: string | null;
  remote: string | null;
};

export type HitSign = 'prefetch' | 'image_proxy' | 'bare_agent' | 'no_agent' | 'scanner' | 'bot';

/** A stored hit. `bot` is null until it is classified. */
export type StoredHit = HitFacts & { number: number; bot: BotLikelihood | null };

/** The number of hits stored per email. Others are only counted. */
export const HITS_MAX = 100;
/** Hits are classified after this time, when everything that identifies a bot has happened. */
export const SETTLE_AFTER_MS = 10_000;

export type AdmittedHit = HitFacts & { number: number };

/**
 * The classification of a hit as human or bot. Spam filters open every link before they deliver an email, and some email clients load all
 * images in advance. No hit is discarded: each one is classified, and only human hits count as engagement.
 */
export type BotClassification = { bot: BotLikelihood; reason: BotReason | null };

export type BotReason = HitSign | 'trap' | 'burst' | 'early' | 'image_proxy_early' | 'same_client';

/** A filter opens the other links shortly before or after the hidden one. */
const TRAP_WITHIN_MS = 10_000;
const BURST_LINKS = 3;
const BURST_WITHIN_MS = 2_000;
/** A hit this soon after the email was accepted cannot come from a reader. */
const EARLY_MS = 2_000;
/** Image proxies of mailbox providers fetch when the recipient opens the email, and sometimes when it arrives. */
const PROXY_EARLY_MS = 10_000;
const SAME_CLIENT_WITHIN_MS = 60_000;

/**
 * Classifies each hit with regard to all others of its email, in their order. `sentAt` is the time at which the next server accepted the
 * email, or null if it is unknown.
 */
export function classifyHits(hits: readonly HitFacts[], sentAt: number | null): BotClassification[] {
  const traps = hits.filter(({ kind }) => kind === 'trap');
  const bursts = findBursts(hits.filter(({ kind }) => kind === 'click'));
  const ownResults = hits.map((hit) =>
    worst([classifyHit(hit), ...byCompany(hit, { traps, bursts }), ...byTime(hit, sentAt)]),
  );
  // An agent that identifies itself as a bot does so in every request. So only the other reasons say something about hits of the same
  // client.
  const betrayed = hits.filter((_, at) => BETRAYED.has(ownResults[at]?.reason ?? ''));
  return hits.map((hit, at) =>
    worst([
      ownResults[at] ?? HUMAN,
      ...(betrayed.some((other) => isSameClient(hit, other)) ? [SAME_CLIENT] : []),
    ]),
  );
}

const HUMAN: BotClassification = { bot: 'no', reason: null };
const SAME_CLIENT: BotClassification = { bot: 'probable', reason: 'same_client' };
const BETRAYED: ReadonlySet<string> = new Set(['prefetch', 'trap', 'burst', 'early']);

/** Classifies a hit by its own request only. */
export function classifyHit({ kind, signs }: Pick<HitFacts, 'kind' | 'signs'>): BotClassification {
  if (kind === 'trap') return { bot: 'yes', reason: 'trap' };
  const found = BOT_BY_SIGN.filter(([sign]) => signs.includes(sign));
  return worst(found.map(([reason, bot]) => ({ bot, reason })));
}

/** `image_proxy`: a mailbox provider fetches for its user. `bare_agent`: Apple Mail fetches for every user with privacy protection. */
const BOT_BY_SIGN: [HitSign, BotLikelihood][] = [
  ['prefetch', 'yes'],
  ['scanner', 'yes'],
  ['bot', 'yes'],
  ['bare_agent', 'probable'],
  ['no_agent', 'probable'],
  ['image_proxy', 'no'],
];

type Company = { traps: readonly HitFacts[]; bursts: ReadonlySet<HitFacts> };

function byCompany(hit: HitFacts, { traps, bursts }: Company): BotClassification[] {
  if (hit.kind !== 'click') return [];
  const isTrapped = traps.some((trap) => Math.abs(trap.at - hit.at) <= TRAP_WITHIN_MS);
  return [
    ...(isTrapped ? [{ bot: 'yes', reason: 'trap' } as const] : []),
    ...(bursts.has(hit) ? [{ bot: 'yes', reason: 'burst' } as const] : []),
  ];
}

function findBursts(clicks: readonly HitFacts[]): Set<HitFacts> {
  const found = new Set<HitFacts>();
  for (const { at } of clicks) {
    const together = clicks.filter((click) => click.at >= at && click.at <= at + BURST_WITHIN_MS);
    if (new Set(together.map(({ link }) => link)).size < BURST_LINKS) continue;
    for (const click of together) found.add(click);
  }
  return found;
}

function byTime({ at, signs }: HitFacts, sentAt: number | null): BotClassification[] {
  if (sentAt === null) return [];
  if (at - sentAt < EARLY_MS) return [{ bot: 'yes', reason: 'early' }];
  const isProxyEarly = signs.includes('image_proxy') && at - sentAt < PROXY_EARLY_MS;
  return isProxyEarly ? [{ bot: 'probable', reason: 'image_proxy_early' }] : [];
}

/** Humans share an IP address with bots of their organization, but not the user agent as well. */
function isSameClient(hit: HitFacts, other: HitFacts): boolean {
  return (
    hit.agent !== null &&
    hit.remote !== null &&
    hit.agent === other.agent &&
    hit.remote === other.remote &&
    Math.abs(hit.at - other.at) <= SAME_CLIENT_WITHIN_MS
  );
}

const WEIGHT: Record<BotLikelihood, number> = { no: 0, probable: 1, yes: 2 };

/** Returns the first of the most severe results, but prefers one with a reason. */
function worst(classifications: BotClassification[]): BotClassification {
  const weight = Math.max(0, ...classifications.map(({ bot }) => WEIGHT[bot]));
  const heaviest = classifications.filter(({ bot }) => WEIGHT[bot] === weight);
  return heaviest.find(({ reason }) => reason !== null) ?? heaviest[0] ?? HUMAN;
}

/** Returns the signs in a request. `purpose` is the value of any header with which browsers mark a prefetch. */
export function signsOf({ agent, purpose }: { agent: string; purpose: string }): HitSign[] {
  const signs: HitSign[] = /\b(?:prefetch|prerender|preview)\b/i.test(purpose) ? ['prefetch'] : [];
  const name = agent.trim();
  if (name === '') return [...signs, 'no_agent'];
  if (IMAGE_PROXY.test(name)) return [...signs, 'image_proxy'];
  if (name === BARE_AGENT) return [...signs, 'bare_agent'];
  if (SCANNER.test(name)) return [...signs, 'scanner'];
  return isbot(name) ? [...signs, 'bot'] : signs;
}

const BARE_AGENT = 'Mozilla/5.0';
/** GoogleImageProxy, YahooMailProxy and others named in the same way. */
const IMAGE_PROXY = /(?:Image|Mail)Proxy\b/i;
/** Email filters that identify themselves, and the 2015 browser that Gmail uses for prefetching. */
const SCANNER =
  /barracuda|proofpoint|mimecast|fireeye|trellix|sophos|fortimail|fortinet|messagelabs|symantec|ironport|forcepoint|trend ?micro|zscaler|safelinks|bingpreview|urldefense|hornetsecurity|avanan|check ?point|Edge\/12\.246 Mozilla\/5\.0$/i;
