import type { BotVerdict } from '@beckon/contract';
import { isbot } from 'isbot';
import type { HitFacts, HitSign } from './hit.ts';

/**
 * Whether a person or a machine fetched something of a letter. Filters open every link before they let a letter through, and
 * some mail programs load all images before anybody looks. Nothing is thrown away for it: each hit gets a verdict, and only
 * what is no machine counts as a sign of life.
 */
export type Verdict = { bot: BotVerdict; reason: BotReason | null };

export type BotReason = HitSign | 'trap' | 'burst' | 'early' | 'image_proxy_early' | 'same_client';

/** A filter looks at the rest of the links just before or after the one that no person sees. */
const TRAP_WITHIN_MS = 10_000;
const BURST_LINKS = 3;
const BURST_WITHIN_MS = 2_000;
/** Sooner after the letter was accepted nobody has read it. */
const EARLY_MS = 2_000;
/** The image proxies of mailboxes fetch when somebody looks, and sometimes when the letter arrives. */
const PROXY_EARLY_MS = 10_000;
const SAME_CLIENT_WITHIN_MS = 60_000;

/**
 * In the order of the hits, whatever that is: each against all others of its letter. `sentAt`: when the next server took the
 * letter; null: nobody knows.
 */
export function judgeHits(hits: readonly HitFacts[], sentAt: number | null): Verdict[] {
  const traps = hits.filter(({ kind }) => kind === 'trap');
  const bursts = findBursts(hits.filter(({ kind }) => kind === 'click'));
  const own = hits.map((hit) =>
    worst([judgeAlone(hit), ...byCompany(hit, { traps, bursts }), ...byTime(hit, sentAt)]),
  );
  // Of an agent that gives itself away every request does: only what betrayed another one says something of its neighbours.
  const betrayed = hits.filter((_, at) => BETRAYED.has(own[at]?.reason ?? ''));
  return hits.map((hit, at) =>
    worst([own[at] ?? HUMAN, ...(betrayed.some((other) => isSameClient(hit, other)) ? [SAME_CLIENT] : [])]),
  );
}

const HUMAN: Verdict = { bot: 'no', reason: null };
const SAME_CLIENT: Verdict = { bot: 'probable', reason: 'same_client' };
const BETRAYED: ReadonlySet<string> = new Set(['prefetch', 'trap', 'burst', 'early']);

/** By what the request itself says. */
export function judgeAlone({ kind, signs }: Pick<HitFacts, 'kind' | 'signs'>): Verdict {
  if (kind === 'trap') return { bot: 'yes', reason: 'trap' };
  const found = VERDICTS.filter(([sign]) => signs.includes(sign));
  return worst(found.map(([reason, bot]) => ({ bot, reason })));
}

/** `image_proxy`: a person's mailbox fetches for them. `bare_agent`: what Apple's mail fetches for everybody who wants privacy. */
const VERDICTS: [HitSign, BotVerdict][] = [
  ['prefetch', 'yes'],
  ['scanner', 'yes'],
  ['bot', 'yes'],
  ['bare_agent', 'probable'],
  ['no_agent', 'probable'],
  ['image_proxy', 'no'],
];

type Company = { traps: readonly HitFacts[]; bursts: ReadonlySet<HitFacts> };

function byCompany(hit: HitFacts, { traps, bursts }: Company): Verdict[] {
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

function byTime({ at, signs }: HitFacts, sentAt: number | null): Verdict[] {
  if (sentAt === null) return [];
  if (at - sentAt < EARLY_MS) return [{ bot: 'yes', reason: 'early' }];
  const isProxyEarly = signs.includes('image_proxy') && at - sentAt < PROXY_EARLY_MS;
  return isProxyEarly ? [{ bot: 'probable', reason: 'image_proxy_early' }] : [];
}

/** People share an address with machines of their house, but not what they browse with as well. */
function isSameClient(hit: HitFacts, other: HitFacts): boolean {
  return (
    hit.agent !== null &&
    hit.remote !== null &&
    hit.agent === other.agent &&
    hit.remote === other.remote &&
    Math.abs(hit.at - other.at) <= SAME_CLIENT_WITHIN_MS
  );
}

const WEIGHT: Record<BotVerdict, number> = { no: 0, probable: 1, yes: 2 };

/** The first of those that weigh most, but for a plain no, which gives way to one with a reason. */
function worst(verdicts: Verdict[]): Verdict {
  const weight = Math.max(0, ...verdicts.map(({ bot }) => WEIGHT[bot]));
  const heaviest = verdicts.filter(({ bot }) => WEIGHT[bot] === weight);
  return heaviest.find(({ reason }) => reason !== null) ?? heaviest[0] ?? HUMAN;
}

/** What a request says of itself, `purpose` in whichever of the headers in which browsers say that nobody asked yet. */
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
/** GoogleImageProxy, YahooMailProxy, and whoever calls themselves after them. */
const IMAGE_PROXY = /(?:Image|Mail)Proxy\b/i;
/** Filters of mail that name themselves, and the browser of 2015 by which Gmail looks ahead. */
const SCANNER =
  /barracuda|proofpoint|mimecast|fireeye|trellix|sophos|fortimail|fortinet|messagelabs|symantec|ironport|forcepoint|trend ?micro|zscaler|safelinks|bingpreview|urldefense|hornetsecurity|avanan|check ?point|Edge\/12\.246 Mozilla\/5\.0$/i;
