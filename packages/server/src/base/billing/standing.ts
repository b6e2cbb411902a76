import {
  type Catalogue,
  dearest,
  intervalOf,
  isMetered,
  monthlyCost,
  planName,
  type Share,
} from './catalogue.ts';
import type { InvoiceFacts, LineFacts } from './facts.ts';

/** What a subscription consisted of, in the main, from a moment on. */
export type Standing = { at: number; share: Share };

export type Change = { at: number; from: Share; to: Share; direction: Direction | null };
/** `lateral`: something else that costs as much a month, or the same paid at another interval. */
export type Direction = 'upgrade' | 'downgrade' | 'lateral';

/**
 * What a subscription was over time. Stripe keeps only what it is now; what it was is found in what was billed. A line that is no
 * proration says what was had from its period's beginning on. A change in between credits the rest of the old price and charges the
 * rest of the new one, both from the moment of the change on, whichever invoice they are on: often that of the next period. An
 * addition is charged without a credit of what was had before, and so is no change of plan.
 */
export function standingsOf(
  invoices: InvoiceFacts[],
  catalogue: Catalogue,
): { standings: Standing[]; changes: Change[] } {
  const standings: Standing[] = [];
  const changes: Change[] = [];
  for (const { at, lines } of momentsOf(invoices)) {
    const current = standings.at(-1)?.share ?? null;
    const share = shareAfter(lines, current, catalogue);
    if (!share || (current && isSame(current, share, catalogue))) continue;
    if (current)
      changes.push({ at, from: current, to: share, direction: direction(current, share, catalogue) });
    standings.push({ at, share });
  }
  return { standings, changes };
}

/** What it was at this moment; before all that is known, what it was first. */
export function standingAt(standings: Standing[], at: number): Share | null {
  return (standings.findLast((one) => one.at <= at) ?? standings[0])?.share ?? null;
}

type Moment = { at: number; lines: LineFacts[] };

/** The lines that begin at one moment belong together: prorations first, for what is billed in full is how it was afterwards. */
function momentsOf(invoices: InvoiceFacts[]): Moment[] {
  const moments = new Map<string, Moment & { isProration: boolean }>();
  for (const { lines } of invoices.filter(isTrue)) {
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

/** A draft may still change; an update whose invoice is void was not made, whereas a period of which it is void was had. */
function isTrue({ status, lines }: InvoiceFacts): boolean {
  return status !== 'draft' && !(status === 'void' && lines.some(({ isProration }) => isProration));
}

/** What is had after these lines; null where they say nothing of it. */
function shareAfter(lines: LineFacts[], current: Share | null, catalogue: Catalogue): Share | null {
  if (!lines.some(({ isProration }) => isProration)) {
    const kept = lines.find(({ price }) => price === current?.price);
    return shareOf(kept ?? dearest(lines, catalogue));
  }
  if (!current) return null;
  // A change within a free trial credits and charges nothing, so that the sign alone does not tell which is which.
  const left = lines.filter((line) => line.amount < 0 || (line.amount === 0 && isHeld(line, current)));
  if (!left.some(({ price }) => price === current.price)) return null;
  const come = lines.filter((line) => !left.includes(line));
  return shareOf(come.find(({ price }) => price === current.price) ?? dearest(come, catalogue));
}

function isHeld(line: LineFacts, current: Share): boolean {
  return line.price === current.price && line.quantity === current.quantity;
}

function shareOf(line: Share | null): Share | null {
  return line && { price: line.price, product: line.product, quantity: line.quantity };
}

function isSame(one: Share, other: Share, catalogue: Catalogue): boolean {
  if (one.price !== other.price) return false;
  return isMetered(one, catalogue) || one.quantity === other.quantity;
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
