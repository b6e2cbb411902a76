import { Button, Chip, Group, Stack, Text, Title } from '@mantine/core';
import {
  Activity,
  CircleHelp,
  History,
  LogIn,
  LogOut,
  type LucideIcon,
  Mail,
  MessageSquareReply,
  UserPlus,
} from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TimelineItem, UserDetails } from '@beckon/contract/dashboard';
import { useApiInfinite } from '../../api/index.ts';
import { Empty, ErrorBox, formatCount, formatTime, Json, Lines, useZone, When } from '../../parts/index.ts';
import { TextLink } from '../../parts/text-link.tsx';
import classes from './timeline.module.css';
import { shownSteps, stepWords, timelineDays } from './steps.ts';
import { headline } from './words.ts';

const ICONS: Record<TimelineItem['kind'], LucideIcon> = {
  event: Activity,
  created: UserPlus,
  changed: History,
  joined: LogIn,
  left: LogOut,
  decision: CircleHelp,
  email: Mail,
};

const GROUPS = [
  { value: 'emails', label: 'Emails', kinds: 'email' },
  { value: 'event', label: 'Events', kinds: 'event' },
  { value: 'changes', label: 'Changes', kinds: 'created,changed,joined,left' },
  { value: 'decision', label: 'Decisions', kinds: 'decision' },
];

/** Everything that happened to a user by day, the newest first. An email is one entry with its steps. */
export function Timeline({ user }: { user: UserDetails }): ReactNode {
  const zone = useZone();
  const [groups, setGroups] = useState<string[]>([]);
  const kinds = GROUPS.filter(({ value }) => groups.includes(value))
    .map((group) => group.kinds)
    .join(',');
  const list = useApiInfinite(
    'GET /projects/:project/users/:user/timeline',
    { params: { user: user.external_user_id }, query: { kinds: kinds === '' ? undefined : kinds } },
    { keep: true, limit: 50 },
  );
  return (
    <Stack gap="sm">
      <Chip.Group multiple value={groups} onChange={setGroups}>
        <Group gap="xs" wrap="wrap" role="group" aria-label="Show only">
          {GROUPS.map(({ value, label }) => (
            <Chip key={value} value={value} size="xs">
              {label}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {list.error && <ErrorBox error={list.error} retry={list.retry} />}
      {list.isPending && <Lines count={8} />}
      {!list.isPending && list.rows.length === 0 && !list.error && (
        <Empty icon={History} title="No activity of this kind" />
      )}
      {timelineDays(list.rows, zone).map(({ day, items }) => (
        <section key={day} aria-label={day}>
          <Title order={2} size="h6" c="dimmed" mt="xs" mb={4}>
            {day}
          </Title>
          <ol className={classes.line} aria-label={`Timeline, ${day}`}>
            {items.map((item) => (
              <Entry key={item.id} item={item} theirZone={user.zone} />
            ))}
          </ol>
        </section>
      ))}
      {list.rows.length > 0 && (
        <Group gap="sm">
          <Text size="xs" c="dimmed" aria-live="polite">
            Showing {formatCount(list.rows.length)} of {formatCount(list.total, list.isAtLeast)}
          </Text>
          {list.hasMore && (
            <Button variant="default" size="compact-sm" loading={list.isLoadingMore} onClick={list.loadMore}>
              Load more
            </Button>
          )}
        </Group>
      )}
    </Stack>
  );
}

type EntryProps = { item: TimelineItem; theirZone: string | null };

function Entry({ item, theirZone }: EntryProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const isAnswered = item.steps.some(({ kind }) => kind === 'reply');
  const Icon = isAnswered ? MessageSquareReply : ICONS[item.kind];
  return (
    <li className={classes.item} data-kind={item.kind}>
      <span className={classes.icon}>
        <Icon size={14} aria-hidden="true" />
      </span>
      <div className={classes.text}>
        <div className={classes.top}>
          <button
            type="button"
            className={classes.head}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {headline(item)}
            <span aria-hidden="true" className={classes.chevron}>
              ▾
            </span>
          </button>
          <Text size="xs" c="dimmed" component="span" className={classes.time}>
            <Follow item={item} />
            <When at={item.at} theirZone={theirZone} style="minute" />
          </Text>
        </div>
        {item.kind === 'email' && <Steps item={item} theirZone={theirZone} />}
        {isOpen && <Details item={item} theirZone={theirZone} />}
      </div>
    </li>
  );
}

/** What became of an email, each step with its time. The day is named only where it changes. */
function Steps({ item, theirZone }: EntryProps): ReactNode {
  const zone = useZone();
  const steps = shownSteps(item.steps);
  const entryDay = formatTime(item.at, zone, 'day');
  return (
    <ol className={classes.steps} aria-label="Steps of the email">
      {steps.map(({ id, at, words }) => (
        <li key={id}>
          <span>{words}</span>{' '}
          <When
            at={at}
            theirZone={theirZone}
            style={formatTime(at, zone, 'day') === entryDay ? 'minute' : 'short'}
          />
        </li>
      ))}
    </ol>
  );
}

function Details({ item, theirZone }: EntryProps): ReactNode {
  return (
    <>
      {item.kind !== 'email' && <Json value={item.detail} what="details" />}
      {item.steps.map((step) => (
        <div key={step.id}>
          <Text size="xs" mt={6}>
            {stepWords(step)} · <When at={step.at} theirZone={theirZone} />
          </Text>
          <Json value={step.detail} what="details" />
        </div>
      ))}
    </>
  );
}

function Follow({ item: { draft_id: draft, rule, audience } }: { item: TimelineItem }): ReactNode {
  if (draft !== null)
    return (
      <TextLink size="xs" className={classes.follow ?? ''} to="/p/$project/drafts/$draft" params={{ draft }}>
        Open draft
      </TextLink>
    );
  if (rule !== null)
    return (
      <TextLink
        size="xs"
        className={classes.follow ?? ''}
        to="/p/$project/rules/$rule"
        params={{ rule: rule.id }}
      >
        Open rule
      </TextLink>
    );
  if (audience?.name == null) return null;
  return (
    <TextLink
      size="xs"
      className={classes.follow ?? ''}
      to="/p/$project/audiences/$audience"
      params={{ audience: audience.id }}
    >
      Open audience
    </TextLink>
  );
}
