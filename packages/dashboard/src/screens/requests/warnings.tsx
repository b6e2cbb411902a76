import type { IngestWarning } from '@beckon/contract/dashboard';
import { Alert, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { When } from '../../parts/index.ts';

const WORDS: Record<string, string> = {
  idempotency_key_not_uuid_v4: 'Idempotency-Keys that are not UUID v4: two servers may create the same key',
  placeholder_user_id:
    'Users with ids such as "null" or "undefined": a client sends before it knows the user',
  invalid_time_zone:
    'Users with an invalid time zone: use a name such as Europe/Paris. The time zone of the project is used instead',
  invalid_locale:
    'Users with an invalid locale: use a language tag such as de or pt-BR. The language of the project is used instead',
  traits_too_long: 'Ignored traits: the traits of one user are limited to 128 KiB',
};
/** The age limit of shown warnings. */
const SHOWN_FOR_MS = 7 * 86_400_000;

/** Warnings about accepted data. */
export function Warnings(): ReactNode {
  const { data } = useApi('GET /projects/:project/warnings', {}, { everyMs: 60_000 });
  const recent = (data?.data ?? []).filter(({ last_at: at }) => Date.parse(at) > Date.now() - SHOWN_FOR_MS);
  if (recent.length === 0) return null;
  return (
    <Alert
      color="gray"
      variant="outline"
      icon={<TriangleAlert size={18} aria-hidden="true" />}
      title="Accepted with warnings"
    >
      {totals(recent).map(({ code, count, last_at: at }) => (
        <Text size="sm" key={code} component="div">
          {WORDS[code] ?? code}: {count.toLocaleString('en-GB')} times in seven days, last{' '}
          <When at={at} style="relative" />
        </Text>
      ))}
    </Alert>
  );
}

function totals(warnings: IngestWarning[]): IngestWarning[] {
  return [...Map.groupBy(warnings, ({ code }) => code).values()].flatMap((days) => {
    const [first] = days;
    if (!first) return [];
    const last = days.map(({ last_at: at }) => at).toSorted((at, other) => (at < other ? 1 : -1))[0];
    return [
      { ...first, count: days.reduce((sum, { count }) => sum + count, 0), last_at: last ?? first.last_at },
    ];
  });
}
