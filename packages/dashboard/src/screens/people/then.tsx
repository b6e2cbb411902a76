import { Alert, Group, Slider, Stack, Table, Text, Title } from '@mantine/core';
import { History } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import type { Certainty, UserDetails, UserThen } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Empty, formatTime, Loaded, useNow, useZone, When } from '../../parts/index.ts';
import { axisLabel } from '../../parts/chart-axes.ts';
import { localOf } from '../../parts/zoned.ts';
import { clampTo, marksBetween } from './slider-marks.ts';
import classes from './user.module.css';
import { MomentField } from '../../parts/moment-field.tsx';
import { CERTAINTY, plain } from './words.ts';
import { stateWords } from '../../parts/codes.ts';

type Props = { user: UserDetails; at: string | undefined; onAt: (at: string | undefined) => void };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The default retention of changes. The server reports the real limit. */
const BACK_MS = 90 * 24 * HOUR;

/** The state of a user at a past time. */
export function Then({ user, at, onAt }: Props): ReactNode {
  const now = Math.floor(useNow() / MINUTE) * MINUTE;
  const moment = at ?? new Date(Math.max(Date.parse(user.first_seen_at), now - 24 * HOUR)).toISOString();
  const query = useApi(
    'GET /projects/:project/users/:user/at',
    { params: { user: user.external_user_id }, query: { at: moment } },
    { keep: true },
  );
  return (
    <Stack gap="md">
      <Moment user={user} at={moment} now={now} onAt={onAt} />
      <Loaded query={query}>{({ data }) => <UserThenView then={data} user={user} />}</Loaded>
    </Stack>
  );
}

type MomentProps = { user: UserDetails; at: string; now: number; onAt: Props['onAt'] };

/** The arrow keys move by an hour, Page up and Page down by a day. Each move shows the user at that time. */
function Moment({ user, at, now, onAt }: MomentProps): ReactNode {
  const zone = useZone();
  const earliest = Math.max(Date.parse(user.first_seen_at), now - BACK_MS);
  const [dragged, setDragged] = useState<number | null>(null);
  const shown = dragged ?? Math.min(Date.parse(at), now);
  const min = Math.min(earliest, shown);
  const show = (ms: number): void => {
    setDragged(null);
    onAt(new Date(clampTo(ms, { min, max: now })).toISOString());
  };
  const moveByDay = (event: KeyboardEvent): void => {
    const days = DAYS_OF_KEY[event.key];
    if (days === undefined) return;
    event.preventDefault();
    show(shown + days * 24 * HOUR);
  };
  const text = formatTime(new Date(shown), zone);
  return (
    <Stack gap="xs">
      <Text size="sm">
        As of <b>{text}</b>
      </Text>
      <div className={classes.slider} onKeyDown={moveByDay}>
        <Slider
          min={min}
          max={now}
          step={HOUR}
          value={shown}
          onChange={setDragged}
          onChangeEnd={show}
          label={(ms) => formatTime(new Date(ms), zone)}
          marks={marksBetween(min, now).map((ms) => ({
            value: ms,
            label: axisLabel(localOf(ms, zone).date),
          }))}
          thumbLabel="Date"
          thumbValueText={(ms) => formatTime(new Date(ms), zone)}
        />
      </div>
      <Group gap="xs" wrap="wrap" align="flex-end">
        <MomentField key={at} label="Exact time" value={at} onMoment={onAt} />
      </Group>
    </Stack>
  );
}

const DAYS_OF_KEY: Record<string, number | undefined> = { PageUp: 1, PageDown: -1 };

function UserThenView({ then, user }: { then: UserThen; user: UserDetails }): ReactNode {
  if (then.state === 'not_created')
    return (
      <Empty icon={History} title="This user did not exist yet">
        The first data of this user arrived later.
      </Empty>
    );
  if (then.state === 'unknown')
    return (
      <Empty icon={History} title="Changes from that time are no longer stored">
        Changes are stored since <When at={then.kept_since} />. Set the retention in Settings → Project →
        Data.
      </Empty>
    );
  return (
    <Stack gap="xl">
      <Stack gap="xs">
        <Title order={2} size="h5">
          Traits on <When at={then.at} theirZone={user.zone} />
        </Title>
        {then.others !== 'exact' && (
          <Alert color="yellow" variant="light" p="xs">
            An import ran after this time. Changes by imports are not stored, so a trait that it removed is
            not shown.
          </Alert>
        )}
        <TraitsThen then={then} user={user} />
      </Stack>
      <Stack gap="lg">
        <AudiencesThen then={then} zone={user.zone} />
        <NextThen then={then} zone={user.zone} />
      </Stack>
    </Stack>
  );
}

function TraitsThen({ then, user }: { then: UserThen; user: UserDetails }): ReactNode {
  const now = new Map(user.traits.map(({ trait, value }) => [trait, plain(value)]));
  return (
    <Table layout="fixed" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="30%">Name</Table.Th>
          <Table.Th>Then</Table.Th>
          <Table.Th>Now</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        <Table.Tr>
          <Table.Td>Email</Table.Td>
          <Table.Td style={WRAP}>
            <Value value={then.email.value} certainty={then.email.certainty} />
          </Table.Td>
          <Table.Td style={WRAP}>{user.email ?? '–'}</Table.Td>
        </Table.Tr>
        {then.traits.map(({ trait, value, certainty }) => (
          <Table.Tr key={trait}>
            <Table.Td style={WRAP}>{trait}</Table.Td>
            <Table.Td style={WRAP}>
              <Value value={value} certainty={certainty} />
            </Table.Td>
            <Table.Td style={WRAP} className={now.get(trait) === plain(value) ? undefined : classes.differs}>
              {now.get(trait) ?? 'not set'}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

const WRAP = { overflowWrap: 'anywhere' } as const;

function Value({ value, certainty }: { value: unknown; certainty: Certainty }): ReactNode {
  const doubt = CERTAINTY[certainty];
  const isKnown = certainty === 'exact' || certainty === 'same_around_import';
  return (
    <>
      {isKnown && (value === null ? '–' : plain(value))}
      {doubt !== null && (
        <Text size="xs" c="dimmed">
          {doubt}
        </Text>
      )}
    </>
  );
}

function AudiencesThen({ then, zone }: { then: UserThen; zone: string | null }): ReactNode {
  return (
    <Stack gap={4}>
      <Title order={2} size="h5">
        Audiences at that time
      </Title>
      {then.audiences.length === 0 && (
        <Text size="sm" c="dimmed">
          None.
        </Text>
      )}
      {then.audiences.map(({ id, name, certainty, definition_changed: isChanged, until }) => (
        <div key={id}>
          <Text size="sm">
            {name}
            {until !== null && (
              <>
                {' '}
                at least until <When at={until} theirZone={zone} />
              </>
            )}
          </Text>
          {(isChanged || certainty !== 'exact') && (
            <Text size="xs" c="dimmed">
              {[
                isChanged ? 'calculated with a newer definition' : null,
                certainty === 'exact' ? null : 'some of its data is uncertain',
              ]
                .filter((part) => part !== null)
                .join('; ')}
            </Text>
          )}
        </div>
      ))}
    </Stack>
  );
}

function NextThen({ then, zone }: { then: UserThen; zone: string | null }): ReactNode {
  return (
    <Stack gap={4}>
      <Title order={2} size="h5">
        Upcoming changes
      </Title>
      {then.next.length === 0 && (
        <Text size="sm" c="dimmed">
          No scheduled changes.
        </Text>
      )}
      {then.next.map(({ at, kind, name, id }) => (
        <Text key={`${kind} ${id}`} size="sm">
          <When at={at} theirZone={zone} />:{' '}
          {kind === 'audience' ? `“${name}” is reevaluated` : `deadline of a draft of ${name}`}
        </Text>
      ))}
      {then.drafts.map(({ id, rule, state, since }) => (
        <Text key={id} size="sm">
          A draft of {rule} was {stateWords(state)} since <When at={since} theirZone={zone} />
        </Text>
      ))}
    </Stack>
  );
}
