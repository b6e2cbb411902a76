import { Anchor, Button, Chip, Group, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import {
  Activity,
  CircleHelp,
  FileText,
  History,
  LogIn,
  LogOut,
  type LucideIcon,
  MailCheck,
  MessageSquareReply,
  Move,
  UserPlus,
} from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TimelineItem, UserDetails } from '@beckon/contract/dashboard';
import { useApiInfinite, useProject } from '../../api/index.ts';
import { Empty, ErrorBox, formatCount, Json, Lines, useZone, When } from '../../parts/index.ts';
import classes from './timeline.module.css';
import { storyDays, type Story, subjectOf } from './stories.ts';
import { headline, stepWords } from './words.ts';

const ICONS: Record<TimelineItem['kind'], LucideIcon> = {
  event: Activity,
  created: UserPlus,
  changed: History,
  joined: LogIn,
  left: LogOut,
  decision: CircleHelp,
  draft: FileText,
  draft_changed: Move,
  outcome: MailCheck,
  reply: MessageSquareReply,
};

const GROUPS = [
  { value: 'event', label: 'Events', kinds: 'event' },
  { value: 'changes', label: 'Changes', kinds: 'created,changed,joined,left' },
  { value: 'decision', label: 'Decisions', kinds: 'decision' },
  { value: 'emails', label: 'Emails', kinds: 'draft,draft_changed' },
  { value: 'outcomes', label: 'Outcomes and replies', kinds: 'outcome,reply' },
];

/** Everything that happened to a user, the newest first. */
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
      {storyDays(list.rows, zone).map(({ day, stories }) => (
        <section key={day} aria-label={day}>
          <Title order={2} size="h6" c="dimmed" mt="xs" mb={4}>
            {day}
          </Title>
          <ol className={classes.line} aria-label={`Timeline, ${day}`}>
            {stories.map((story) => (
              <StoryLine key={story.id} story={story} zone={user.zone} />
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

function StoryLine({ story, zone }: { story: Story; zone: string | null }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { items } = story;
  const newest = items.at(-1) ?? items[0];
  const Icon = ICONS[items[0].kind];
  const isEmail = newest.draft_id !== null && items.length > 1;
  return (
    <li className={classes.item}>
      <Icon size={14} aria-hidden="true" className={classes.icon} />
      <div className={classes.text}>
        <button
          type="button"
          className={classes.head}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isEmail ? emailHeadline(story) : headline(newest)}
        </button>
        <Text size="xs" c="dimmed" component="div">
          {isEmail && <>{chainWords(items)} · </>}
          <When at={story.at} theirZone={zone} /> <Follow item={newest} />
        </Text>
        {isOpen && items.map((item) => <Step key={item.id} item={item} zone={isEmail ? zone : undefined} />)}
      </div>
    </li>
  );
}

function emailHeadline(story: Story): string {
  const rule = story.items.find((item) => item.rule !== null)?.rule;
  return `Email “${subjectOf(story) ?? ''}”${rule ? ` · ${rule.name}` : ''}`;
}

/** "Drafted → Approved by nina → Sent → Opened", without what is sent only for a moment or repeated. */
function chainWords(items: TimelineItem[]): string {
  const steps = items.filter(({ title }) => title !== 'claim').map(stepWords);
  return [...new Set(steps)].join(' → ');
}

/** One item in full. `zone` is set within an email, where each item has its own time. */
function Step({ item, zone }: { item: TimelineItem; zone: string | null | undefined }): ReactNode {
  return (
    <>
      {zone !== undefined && (
        <Text size="xs" mt={4}>
          {stepWords(item)} <When at={item.at} theirZone={zone} />
        </Text>
      )}
      <Json value={item.detail} what="details" />
    </>
  );
}

function Follow({ item: { draft_id: draft, rule, audience } }: { item: TimelineItem }): ReactNode {
  const project = String(useProject().id);
  if (draft !== null)
    return (
      <Anchor component={Link} size="xs" to={`/p/${project}/drafts/${draft}`}>
        Open draft
      </Anchor>
    );
  if (rule !== null)
    return (
      <Anchor component={Link} size="xs" to={`/p/${project}/rules/${rule.id}`}>
        Open rule
      </Anchor>
    );
  if (audience?.name == null) return null;
  return (
    <Anchor component={Link} size="xs" to={`/p/${project}/audiences/${audience.id}`}>
      Open audience
    </Anchor>
  );
}
