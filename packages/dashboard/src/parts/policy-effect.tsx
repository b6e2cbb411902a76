import { Alert, Group, List, Skeleton, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { ArrowRight, FlaskConical } from 'lucide-react';
import type { PolicyEffect, PolicyFate } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { type ApiError, useApi } from '../api/index.ts';
import { ErrorBox } from './error-box.tsx';
import { effectWords, reasonWords } from './policy-words.ts';
import { When } from './when.tsx';

const TYPING_MS = 300;
const SHOWN = 5;

export type Simulation = { effect: PolicyEffect | undefined; error: ApiError | null; isAsking: boolean };

/** What these changes would do to the letters that wait now: asked for when somebody stops typing. */
export function useSimulation(changes: Record<string, string>): Simulation {
  const [asked] = useDebouncedValue(changes, TYPING_MS);
  const isAsked = Object.keys(asked).length > 0;
  const query = useApi(
    'GET /projects/:project/policy/simulate',
    { query: asked },
    { enabled: isAsked, keep: true, staleTimeMs: 10_000 },
  );
  return {
    effect: isAsked ? query.data?.data : undefined,
    error: isAsked ? query.error : null,
    isAsking: isAsked && (query.isFetching || asked !== changes),
  };
}

/** Said before it is saved: how many letters move, by how much, and which are lost. */
export function EffectOnQueue({ effect, error, isAsking }: Simulation): ReactNode {
  if (error) return <ErrorBox error={error} title="The effect could not be worked out" />;
  if (!effect) return isAsking ? <Skeleton height={64} /> : null;
  return (
    <Alert
      variant="light"
      color={effect.newly_expire > 0 ? 'orange' : 'beacon'}
      icon={<FlaskConical size={18} aria-hidden="true" />}
      title="If you save this now"
      aria-live="polite"
      aria-busy={isAsking}
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <List size="sm" spacing={2}>
        {effectWords(effect).map((said) => (
          <List.Item key={said}>{said}</List.Item>
        ))}
      </List>
      <Differences effect={effect} />
      <Text size="xs" c="dimmed" mt={6}>
        {effect.is_cut ? 'More letters wait than were looked at. ' : ''}
        Worked out by what the sender itself asks, as if nothing new came in.
      </Text>
    </Alert>
  );
}

function Differences({ effect: { differences, drafts } }: { effect: PolicyEffect }): ReactNode {
  if (differences.length === 0) return null;
  return (
    <details>
      <summary>The first that fare otherwise, of {drafts.toLocaleString('en')} that wait</summary>
      <List size="sm" spacing={2} mt={4} listStyleType="none">
        {differences.slice(0, SHOWN).map(({ id, rule, external_user_id: user, today, changed }) => (
          <List.Item key={id}>
            <Group gap={6} wrap="wrap">
              <span>
                {rule} to {user}:
              </span>
              <FateText fate={today} />
              <ArrowRight size={13} aria-label="becomes" />
              <FateText fate={changed} />
            </Group>
          </List.Item>
        ))}
      </List>
    </details>
  );
}

/** What becomes of a letter: "leaves 24 Nov, 08:12", "held by the cap per person". */
export function FateText({ fate: { becomes, at, reason } }: { fate: PolicyFate }): ReactNode {
  if (becomes === 'sends') return <When at={at} />;
  const why = reason === null ? '' : ` by ${reasonWords(reason)}`;
  return (
    <span>{becomes === 'held' ? `held${why}` : `expires${reason === null ? '' : `, kept back${why}`}`}</span>
  );
}
