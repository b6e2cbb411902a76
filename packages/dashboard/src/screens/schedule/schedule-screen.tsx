import { Button, Group, Select, Skeleton, Stack, Text } from '@mantine/core';
import { CalendarRange, FlaskConical, Pause } from 'lucide-react';
import { getRouteApi } from '@tanstack/react-router';
import type { Schedule, ScheduledDraft } from '@beckon/contract/dashboard';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { useApi } from '../../api/index.ts';
import { Empty, formatTime, later, Loaded, Mark, Page, useZone, WhenOpened } from '../../parts/index.ts';
import { useSimulation } from '../../parts/policy-effect.tsx';
import { heldWords } from '../../parts/policy-words.ts';
import { useSettingsForm } from '../../parts/settings-form.ts';
import { TextLink } from '../../parts/text-link.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { type Planned, PlannedDrafts } from './planned-drafts.tsx';
import type { ToPostpone } from './postpone-dialog.tsx';
import { Legend, Ribbon } from './ribbon.tsx';
import { usePostpone } from './use-postpone.ts';
import { type Cell, daysOf } from './week.ts';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const PostponeDialog = later(() => import('./postpone-dialog.tsx'), 'PostponeDialog', null);
const Simulator = later(() => import('./simulator.tsx'), 'Simulator');

const route = getRouteApi('/p/$project/schedule');
const REFRESH_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The emails of the next seven days by hour, if no member acts. */
export function ScheduleScreen(): ReactNode {
  const { try: isTrying = false } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useApi('GET /projects/:project/schedule', {}, { everyMs: REFRESH_MS });
  const paused = query.data?.data.paused ?? false;
  return (
    <Page
      title="Scheduled emails"
      beside={paused && <Mark icon={Pause} tone="warn" label="Sending paused: shown as if resumed" />}
      actions={
        <Button
          variant={isTrying ? 'filled' : 'default'}
          aria-pressed={isTrying}
          leftSection={<FlaskConical size={15} aria-hidden="true" />}
          onClick={() =>
            void navigate({ search: (was) => ({ ...was, try: isTrying ? undefined : true }), replace: true })
          }
        >
          Test another policy
        </Button>
      }
    >
      <Loaded query={query} skeleton={<Skeleton height={420} />}>
        {({ data }) => <Week schedule={data} isTrying={isTrying} />}
      </Loaded>
    </Page>
  );
}

function Week({ schedule, isTrying }: { schedule: Schedule; isTrying: boolean }): ReactNode {
  const { hour, show, zone: band = schedule.quiet[0]?.zone } = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZone();
  const form = useSettingsForm();
  const simulation = useSimulation(isTrying ? form.changes : NO_CHANGES);
  const tried = isTrying && form.dirty ? simulation.effect?.hours : undefined;
  const postpone = usePostpone();
  const [toPostpone, setToPostpone] = useState<ToPostpone | null>(null);
  const dragged = useRef<ScheduledDraft | null>(null);
  const days = useMemo(() => daysOf(schedule, { zone, band, tried }), [schedule, zone, band, tried]);
  const choose = (search: { hour?: string; show?: 'held' | 'expires' }): void =>
    void navigate({
      search: (was) => ({ ...was, hour: undefined, show: undefined, ...search }),
      replace: true,
    });
  if (schedule.drafts === 0) return <NothingPlanned schedule={schedule} />;
  return (
    <Stack gap="md">
      {isTrying && <Simulator form={form} simulation={simulation} />}
      <Group justify="space-between" gap="sm">
        <Summary schedule={schedule} onShow={(what) => choose({ show: what })} />
        <BandChoice
          schedule={schedule}
          band={band}
          onBand={(next) => void navigate({ search: (was) => ({ ...was, zone: next }), replace: true })}
        />
      </Group>
      <Ribbon
        days={days}
        perHour={schedule.throttle_per_hour}
        chosen={hour}
        onChoose={(at) => choose({ hour: at })}
        onDrop={(id, cell) => {
          const draft = dragged.current;
          if (draft?.id !== id) return;
          const to = startOf(cell, schedule);
          if (draft.expires_at !== null && to > draft.expires_at) setToPostpone({ draft, to });
          else postpone({ draft, until: to });
        }}
      />
      <Legend isTrying={tried !== undefined} />
      <Chosen
        query={plannedOf({ hour, show })}
        onPostpone={(draft) => setToPostpone({ draft })}
        onDrag={(draft) => {
          dragged.current = draft;
        }}
      />
      <WhenOpened opened={toPostpone !== null}>
        <PostponeDialog target={toPostpone} onClose={() => setToPostpone(null)} postpone={postpone} />
      </WhenOpened>
    </Stack>
  );
}

const SOONEST_MS = 2 * 60_000;

/** The current hour began in the past, so the earliest time is a moment from now. */
function startOf({ at }: Cell, { now }: Schedule): string {
  return new Date(Math.max(Date.parse(at), Date.parse(now) + SOONEST_MS)).toISOString();
}

type ChosenProps = {
  query: Planned | null;
  onDrag: (draft: ScheduledDraft) => void;
  onPostpone: (draft: ScheduledDraft) => void;
};

function Chosen({ query, ...props }: ChosenProps): ReactNode {
  const zone = useZone();
  if (!query)
    return <Muted>Select an hour to see its emails. Drag one onto another hour to postpone it.</Muted>;
  return (
    <Titled title={titleOf(query, zone)}>
      <PlannedDrafts query={query} label={titleOf(query, zone)} {...props} />
    </Titled>
  );
}

const NO_CHANGES: Record<string, string> = {};

function plannedOf({
  hour,
  show,
}: {
  hour: string | undefined;
  show: 'held' | 'expires' | undefined;
}): Planned | null {
  if (show !== undefined) return { result: show };
  const from = Date.parse(hour ?? '');
  if (Number.isNaN(from)) return null;
  return {
    result: 'sends',
    from: new Date(from).toISOString(),
    to: new Date(from + HOUR_MS).toISOString(),
  };
}

function titleOf({ result, from }: Planned, zone: string): string {
  if (result === 'held') return 'Held until another change';
  if (result === 'expires') return 'Expire before they can be sent';
  return `Sent in the hour from ${formatTime(from ?? '', zone)}`;
}

type SummaryProps = { schedule: Schedule; onShow: (what: 'held' | 'expires') => void };

function Summary({ schedule, onShow }: SummaryProps): ReactNode {
  const { drafts, truncated, waits_for_review: waiting, beyond } = schedule;
  const held = Object.values(beyond.held).reduce((sum, count) => sum + count, 0);
  const planned = drafts - held - beyond.expires - beyond.sends;
  return (
    <Group gap="xs" wrap="wrap">
      <Text size="sm">
        <b>{planned.toLocaleString('en')}</b> {planned === 1 ? 'email' : 'emails'} planned within seven days
        {truncated && ' (not all waiting drafts were checked)'}
      </Text>
      {beyond.sends > 0 && <Text size="sm">{beyond.sends.toLocaleString('en')} later</Text>}
      {held > 0 && (
        <ActButton size="compact-sm" variant="subtle" onClick={() => onShow('held')}>
          {held.toLocaleString('en')} held: {heldWords(beyond.held)}
        </ActButton>
      )}
      {beyond.expires > 0 && (
        <ActButton size="compact-sm" onClick={() => onShow('expires')}>
          {beyond.expires.toLocaleString('en')} expire first
        </ActButton>
      )}
      {waiting > 0 && (
        <Text size="sm">
          <TextLink inherit to="/p/$project/review">
            {waiting.toLocaleString('en')} wait for approval
          </TextLink>
        </Text>
      )}
    </Group>
  );
}

type BandProps = { schedule: Schedule; band: string | undefined; onBand: (zone: string) => void };

function BandChoice({ schedule: { quiet, policy }, band, onBand }: BandProps): ReactNode {
  if (policy.quiet_hours === 'off') return <Text size="sm">Quiet hours are off</Text>;
  return (
    <Select
      size="xs"
      w={280}
      aria-label="Time zone of the quiet hours"
      data={quiet.map(({ zone, drafts }) => ({
        value: zone,
        label: `Quiet hours in ${zone} · ${drafts.toLocaleString('en')}`,
      }))}
      value={band ?? null}
      allowDeselect={false}
      onChange={(zone) => {
        if (zone !== null) onBand(zone);
      }}
    />
  );
}

function NothingPlanned({ schedule: { waits_for_review: waiting } }: { schedule: Schedule }): ReactNode {
  return (
    <Empty
      icon={CalendarRange}
      title="No emails planned"
      action={
        <LinkButton to={waiting > 0 ? '/p/$project/review' : '/p/$project/rules'}>
          {waiting > 0 ? 'Open Review' : 'View rules'}
        </LinkButton>
      }
    >
      {waiting > 0
        ? `${waiting.toLocaleString('en')} drafts wait for approval.`
        : 'Planned emails appear here when a rule creates a draft.'}
    </Empty>
  );
}
