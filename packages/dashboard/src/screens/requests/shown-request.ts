import type { FeedItem, IngestRequest } from '@beckon/contract/dashboard';

/** Converts a request of the stream to a row of the list, for links to a request on no loaded page. */
export function requestOf(item: FeedItem): IngestRequest | null {
  if (item.type !== 'request') return null;
  const of = (name: string): number => Number(item[name] ?? 0);
  const numberOf = (name: string): number | null => (typeof item[name] === 'number' ? item[name] : null);
  const code = typeof item['code'] === 'string' ? item['code'] : null;
  const replayed = code === 'idempotent_replay';
  const key = typeof item['key_id'] === 'string' ? { id: item['key_id'], label: null } : null;
  return {
    id: item.id,
    place: item.place,
    at: item.at,
    endpoint: String(item['endpoint']),
    status: of('status'),
    code: replayed ? null : code,
    replayed,
    requests: of('requests'),
    accepted: of('accepted'),
    rejected: of('rejected'),
    bytes: numberOf('bytes'),
    slowest_ms: numberOf('slowest_ms'),
    key,
    request_id: String(item['request_id']),
    faults: Array.isArray(item['faults']) ? (item['faults'] as IngestRequest['faults']) : [],
  };
}
