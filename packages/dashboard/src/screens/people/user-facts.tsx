import { Group, Stack, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { UserDetails, UserTrait } from '@beckon/contract/dashboard';
import { When } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { Titled } from '../../parts/titled.tsx';
import { localeWarning, plain, zoneWarning } from './words.ts';
import { endWords } from '../../parts/end-words.ts';
import classes from './user.module.css';

/** The current data of a user; their values are always plain text. */
export function UserFacts({ user }: { user: UserDetails }): ReactNode {
  return (
    <aside className={classes.side} aria-label="Traits and audiences">
      <Traits user={user} />
      <Audiences user={user} />
      <Runs user={user} />
      <Details user={user} />
    </aside>
  );
}

function Traits({ user: { traits, zone } }: { user: UserDetails }): ReactNode {
  return (
    <Titled title="Traits">
      {traits.length === 0 && <Muted>None.</Muted>}
      <dl className={classes.traits}>
        {traits.map((of) => (
          <Trait key={of.trait} of={of} zone={zone} />
        ))}
      </dl>
    </Titled>
  );
}

function Trait({ of: { trait, value, changed }, zone }: { of: UserTrait; zone: string | null }): ReactNode {
  return (
    <>
      <dt>{trait}</dt>
      <dd>
        {plain(value)}
        {changed && changed.before !== null && (
          <small>
            was {plain(changed.before)} until <When at={changed.at} theirZone={zone} />
          </small>
        )}
      </dd>
    </>
  );
}

/** Quiet hours depend on the time zone and emails on the locale, so the page shows when a trait is not the one in use. */
function TraitWarning({ warning }: { warning: string | null }): ReactNode {
  if (warning === null) return null;
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <TriangleAlert size={16} aria-hidden="true" style={NO_SHRINK} />
      <Text size="sm" className={classes.shrinks}>
        {warning}
      </Text>
    </Group>
  );
}

const NO_SHRINK = { flexShrink: 0, marginTop: 3 } as const;

function Details({ user }: { user: UserDetails }): ReactNode {
  const { first_seen_at, last_seen_at, zone, locale, triggers } = user;
  return (
    <Titled title="Details">
      <dl className={classes.traits}>
        <dt>First seen</dt>
        <dd>
          <When at={first_seen_at} theirZone={zone} />
        </dd>
        <dt>Last seen</dt>
        <dd>
          <When at={last_seen_at} theirZone={zone} />
        </dd>
        {triggers.live_since && (
          <>
            <dt>Triggers rules since</dt>
            <dd>
              <When at={triggers.live_since} theirZone={zone} />
            </dd>
          </>
        )}
        {locale && (
          <>
            <dt>Locale</dt>
            <dd>{locale}</dd>
          </>
        )}
      </dl>
      <TraitWarning warning={zoneWarning(user)} />
      <TraitWarning warning={localeWarning(user)} />
    </Titled>
  );
}

function Audiences({ user: { audiences, zone } }: { user: UserDetails }): ReactNode {
  return (
    <Titled title="Audiences">
      {audiences.length === 0 && <Muted>None.</Muted>}
      <Stack gap={4}>
        {audiences.map(({ id, name, since }) => (
          <Group key={id} gap="xs" justify="space-between" className={classes.shrinks}>
            <TextLink to="/p/$project/audiences/$audience" params={{ audience: id }}>
              {name}
            </TextLink>
            <Muted size="xs">
              since <When at={since} theirZone={zone} />
            </Muted>
          </Group>
        ))}
      </Stack>
    </Titled>
  );
}

const RUNS_SHOWN = 8;

function Runs({ user: { runs, zone } }: { user: UserDetails }): ReactNode {
  if (runs.length === 0) return null;
  return (
    <Titled title="Runs">
      <Stack gap="xs">
        {runs.slice(0, RUNS_SHOWN).map((run) => (
          <div key={run.id}>
            <Text size="sm" className={classes.shrinks}>
              {run.rule}: {run.state}
              {run.end_reason && ` (${endWords(run.end_reason)})`}
            </Text>
            <Muted size="xs">
              Enrolled <When at={run.enrolled_at} theirZone={zone} />
              {run.next_at && (
                <>
                  , continues <When at={run.next_at} theirZone={zone} />
                </>
              )}
            </Muted>
          </div>
        ))}
        {runs.length > RUNS_SHOWN && (
          <Muted size="xs">The newest {RUNS_SHOWN} are shown. The timeline has all of them.</Muted>
        )}
      </Stack>
    </Titled>
  );
}
