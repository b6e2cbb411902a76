import type { ProviderSuppression, RelayContext, SuppressionPage } from './adapter.ts';
import { asList, asObject, asText, type Json } from './json.ts';
import { type Answer, failureMessage, type ProviderRequest, request } from './request.ts';

type Rules = {
  title: string;
  provider: ProviderRequest;
  rows: (answer: Answer) => unknown;
  read: (row: Json) => { address: unknown; reason: ProviderSuppression['reason'] | null };
  next: (answer: Answer, rows: number) => string | null;
};

const ROWS_MAX = 100_000;
const ANSWER_MAX_BYTES = 16 * 1_048_576;

/** Requests a page of a suppression list, and leaves out rows that are no suppression of an address. */
export async function suppressionPage(
  context: RelayContext,
  { title, provider, rows, read, next }: Rules,
): Promise<SuppressionPage> {
  const answer = await request(context, { ...provider, answerMaxBytes: ANSWER_MAX_BYTES });
  if ('failed' in answer || answer.status !== 200)
    return { ok: false, message: failureMessage(title, answer) };
  const list = asList(rows(answer), ROWS_MAX);
  const suppressions = list.map(asObject).flatMap((row) => {
    const { address, reason } = read(row);
    const text = asText(address);
    return text === null || reason === null ? [] : [{ address: text, reason }];
  });
  return { ok: true, suppressions, cursor: next(answer, list.length) };
}

/** Returns the offset of the next page; null after the last one. */
export function nextOffset(cursor: string | null, rows: number, page: number): string | null {
  return rows < page ? null : String(offsetOf(cursor) + rows);
}

export function offsetOf(cursor: string | null): number {
  return cursor !== null && /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
}
