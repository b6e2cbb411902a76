import { Alert, Group, List, Skeleton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { ArrowRight, FlaskConical } from 'lucide-react';
import type { PolicyEffect, SendForecast } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { type ApiError, useApi } from '../api/index.ts';
import { ErrorBox } from './error-box.tsx';
import { effectWords, reasonWords } from './policy-words.ts';
import { When } from './when.tsx';
import { Muted } from './muted.tsx';

const TYPING_MS = 300;
const SHOWN = 5;

export type Simulation = { effect: PolicyEffect | undefined; error: ApiError | null; isLoading: boolean };

/** The effect of these changes on the waiting emails, requested when the member stops typing. */
export function useSimulation(changes: Record<string, string>): Simulation {
  const [debouncedChanges] = useDebouncedValue(changes, TYPING_MS);
  const hasChanges = Object.keys(debouncedChanges).length > 0;
  const query = useApi(
    'GET /projects/:project/policy/simulate',
    { query: debouncedChanges },
    { enabled: hasChanges, keep: true, staleTimeMs: 10_000 },
  );
  return {
    effect: hasChanges ? query.data?.data : undefined,
    error: hasChanges ? query.error : null,
    isLoading: hasChanges && (query.isFetching || debouncedChanges !== changes),
  };
}

/** Shows before saving how many emails move, by how much, and which expire. */
export function EffectOnQueue({ effect, error, isLoading }: Simulation): ReactNode {
  if (error) return <ErrorBox error={error} title="The effect could not be calculated" />;
  if (!effect) return isLoading ? <Skeleton height={64} /> : null;
  return (
    <Alert
      variant="light"
      color={effect.newly_expire > 0 ? 'orange' : 'beacon'}
      icon={<FlaskConical size={18} aria-hidden="true" />}
      title="Effect on waiting emails"
      aria-live="polite"
      aria-busy={isLoading}
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <List size="sm" spacing={2}>
        {effectWords(effect).map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
      <Differences effect={effect} />
      <Muted size="xs" mt={6}>
        {effect.truncated ? 'Not all waiting emails were checked. ' : ''}
        Calculated with the real send checks, assuming that no new emails arrive.
      </Muted>
    </Alert>
  );
}

function Differences({ effect: { differences, drafts } }: { effect: PolicyEffect }): ReactNode {
  if (differences.length === 0) return null;
  return (
    <details>
      <summary>Changed emails, out of {drafts.toLocaleString('en')} waiting</summary>
      <List size="sm" spacing={2} mt={4} listStyleType="none">
        {differences.slice(0, SHOWN).map(({ id, rule, external_user_id: user, current, proposed }) => (
          <List.Item key={id}>
            <Group gap={6} wrap="wrap">
              <span>
                {rule} to {user}:
              </span>
              <ForecastText forecast={current} />
              <ArrowRight size={13} aria-label="becomes" />
              <ForecastText forecast={proposed} />
            </Group>
          </List.Item>
        ))}
      </List>
    </details>
  );
}

/** The result for an email: "24 Nov, 08:12", "held: frequency cap". */
export function ForecastText({ forecast: { result, at, reason } }: { forecast: SendForecast }): ReactNode {
  if (result === 'sends') return <When at={at} />;
  const why = reason === null ? '' : `: ${reasonWords(reason)}`;
  return <span>{result === 'held' ? `held${why}` : `expires${why}`}</span>;
}
