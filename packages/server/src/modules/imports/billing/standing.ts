import {
  type Catalogue,
  dearest,
  intervalOf,
  isMetered,
  monthlyCost,
  planName,
  type Share,
} from './catalog.ts';
import type { InvoiceFacts, LineFacts } from './snapshot.ts';

/** The main part of a subscription from a moment on. */
export type ShareChange = { at: number; share: Share };

export type Change = { at: number; from: Share; to: Share; direction: Direction | null };
/** `lateral`: a different plan at the same monthly cost, or the same plan paid at another interval. */
export type Direction = 'upgrade' | 'downgrade' | 'lateral';

/**
 * Reconstructs a subscription's history from its invoices, because Stripe keeps only its current state. A line that is not a proration
 * shows the state at the beginning of its period. A change within a period credits the rest of the old price and charges the rest of the
 * new one. Both lines start at the moment of the change and may be on any invoice, often that of the next period. An addition is charged
 * without a credit of the previous state, so it is not a change of plan.
 */
export function shareTimeline(
  invoices: InvoiceFacts[],
  catalogue: Catalogue,
): { timeline: ShareChange[]; changes: Change[] } {
  const timeline: ShareChange[] = [];
  const changes: Change[] = [];
  for (const { at, lines } of momentsOf(invoices)) {
    const current = timeline.at(-1)?.share ?? null;
    const share = shareAfter(lines, current, catalogue);
    if (!share || (current && isSame(current, share, catalogue))) continue;
    if (current)
      changes.push({ at, from: current, to: share, direction: direction(current, share, catalogue) });
    timeline.push({ at, share });
  }
  return { timeline, changes };
}

/** Returns the state at a moment. Before the first known state it returns the first one. */
export function shareAt(timeline: ShareChange[], at: number): Share | null {
  return (timeline.findLast((change) => change.at <= at) ?? timeline[0])?.share ?? null;
}

type Moment = { at: number; lines: LineFacts[] };

/** Groups the lines that begin at one moment. Prorations come first, because regular lines show the state after the change. */
function momentsOf(invoices: InvoiceFacts[]): Moment[] {
  const moments = new Map<string, Moment & { isProration: boolean }>();
  for (const { lines } of invoices.filter(isEffective)) {
    for (const line of lines) {
      const key = `${line.start} ${line.isProration}`;
      const moment = moments.get(key) ?? { at: line.start, isProration: line.isProration, lines: [] };
      moment.lines.push(line);
      moments.set(key, moment);
    }
  }
  return [...moments.values()].toSorted(
    (a, b) => a.at - b.at || Number(b.isProration) - Number(a.isProration),
  );
}

/**
 * Skips drafts, which may still change, and void invoices with prorations, because such an update did not take place. A void invoice of a
 * regular period counts: the subscription ran in that period.
 */
function isEffective({ status, lines }: InvoiceFacts): boolean {
  return status !== 'draft' && !(status === 'void' && lines.some(({ isProration }) => isProration));
}

/** Returns the state after these lines; null if they do not show it. */
function shareAfter(lines: LineFacts[], current: Share | null, catalogue: Catalogue): Share | null {
  if (!lines.some(({ isProration }) => isProration)) {
    const sameLine = lines.find(({ price }) => price === current?.price);
    return shareOf(sameLine ?? dearest(lines, catalogue));
  }
  if (!current) return null;
  // A change within a free trial credits and charges nothing, so the sign alone does not distinguish the two.
  const credited = lines.filter(
    (line) => line.amount < 0 || (line.amount === 0 && isUnchanged(line, current)),
  );
  if (!credited.some(({ price }) => price === current.price)) return null;
  const charged = lines.filter((line) => !credited.includes(line));
  return shareOf(charged.find(({ price }) => price === current.price) ?? dearest(charged, catalogue));
}

function isUnchanged(line: LineFacts, current: Share): boolean {
  return line.price === current.price && line.quantity === current.quantity;
}

function shareOf(line: Share | null): Share | null {
  return line && { price: line.price, product: line.product, quantity: line.quantity };
}

function isSame(share: Share, other: Share, catalogue: Catalogue): boolean {
  if (share.price !== other.price) return false;
  return isMetered(share, catalogue) || share.quantity === other.quantity;
}

function direction(from: Share, to: Share, catalogue: Catalogue): Direction | null {
  const isSamePlan = planName(from, catalogue) === planName(to, catalogue) && from.quantity === to.quantity;
  if (isSamePlan && intervalOf(from, catalogue) !== intervalOf(to, catalogue)) return 'lateral';
  const before = monthlyCost(from, catalogue);
  const after = monthlyCost(to, catalogue);
  if (before === null || after === null) return null;
  if (Math.abs(after - before) < 0.005) return 'lateral';
  return after > before ? 'upgrade' : 'downgrade';
}
