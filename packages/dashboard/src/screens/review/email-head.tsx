import { Alert, Group, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { DraftWhole } from '@beckon/contract/dashboard';
import { Hourglass, ShieldAlert, UserRoundCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useProject, useSession } from '../../api/index.ts';
import { Deadline, formatTime, Person, useNow, useZone, When } from '../../parts/index.ts';
import { StateMark } from './state-mark.tsx';
import classes from './review.module.css';

/** Recipient, subject, deadline, and what would hold the draft. */
export function EmailHead({ draft, level }: { draft: DraftWhole; level: 1 | 2 }): ReactNode {
  const project = useProject();
  const { user: person, rule, subject, deadline_at: deadline, expires_at: expires, autopilot } = draft;
  return (
    <Stack gap={6}>
      {level === 2 && (
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
          {subject}
        </Title>
      )}
      <Group gap={6} fz="sm">
        <span>To</span>
        <Person id={person.external_user_id} name={person.name} />
        <span>{person.email ?? 'No address'}</span>
      </Group>
      <Group gap="sm" fz="sm">
        <StateMark draft={draft} />
        {draft.ended_at === null && (
          <Deadline at={deadline} none={autopilot ? 'No deadline yet' : 'Waits for approval'} />
        )}
        {draft.ended_at === null && deadline !== null && <When at={deadline} theirZone={person.time_zone} />}
        <Link
          className={classes.link}
          to="/p/$project/rules/$rule"
          params={{ project: String(project.id), rule: rule.id }}
        >
          {rule.name}
        </Link>
        {expires !== null && draft.ended_at === null && (
          <Text size="xs" c="dimmed" component="span">
            <Hourglass size={12} aria-hidden="true" /> expires{' '}
            <When at={expires} theirZone={person.time_zone} />
          </Text>
        )}
      </Group>
      <Lately draft={draft} />
      <Holds draft={draft} />
    </Stack>
  );
}

const DONE: Record<string, string> = {
  approve: 'approved',
  skip: 'skipped',
  postpone: 'postponed',
  edit: 'edited',
};
/** How long an action counts as recent. */
const NEWS_MS = 10 * 60_000;

/** Another member's recent action, so that it is not repeated. */
function Lately({ draft: { history } }: { draft: DraftWhole }): ReactNode {
  const me = useSession().data?.data.member?.name;
  const now = useNow();
  const last = history.at(-1);
  const words = DONE[last?.action ?? ''];
  if (!last || words === undefined || NOT_MEMBERS.has(last.actor) || last.actor === me) return null;
  if (now - Date.parse(last.at) > NEWS_MS) return null;
  return (
    <Alert color="gray" variant="outline" icon={<UserRoundCheck aria-hidden="true" />} p="xs" role="status">
      {last.actor} {words} this draft, <When at={last.at} style="relative" />.
    </Alert>
  );
}

const NOT_MEMBERS = new Set(['engine', 'model']);

function Holds({
  draft: { rule_holds: holds, send_check: gate, lease, state, user: person },
}: {
  draft: DraftWhole;
}): ReactNode {
  const zone = useZone();
  const until = gate?.until ?? null;
  const there =
    person.time_zone === zone || until === null
      ? ''
      : ` (${formatTime(until, person.time_zone)} recipient’s time)`;
  return (
    <>
      {holds === false && (
        <Alert color="yellow" variant="outline" icon={<ShieldAlert aria-hidden="true" />} p="xs">
          The rule’s condition is no longer met for this user.
        </Alert>
      )}
      {gate !== null && (
        <Alert color="gray" variant="outline" icon={<ShieldAlert aria-hidden="true" />} p="xs">
          {state === 'approved' || state === 'held' ? 'Held' : 'Would be held now'}: {gate.sentence}
          {until === null ? '' : `, until ${formatTime(until, zone)}${there}`}.
        </Alert>
      )}
      {lease !== null && !lease.mine && (
        <Alert color="yellow" variant="outline" p="xs" role="status">
          {lease.by} is editing this draft until <When at={lease.until} style="clock" /> at the latest.
        </Alert>
      )}
    </>
  );
}
