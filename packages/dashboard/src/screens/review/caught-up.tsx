import { Group, Paper, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReviewAction, ReviewTally } from '@beckon/contract/dashboard';
import { MailCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi, useProject } from '../../api/index.ts';
import { Empty, formatCount } from '../../parts/index.ts';
import { capital } from '../../parts/codes.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { DECIDED } from './decided-words.ts';
import classes from './caught-up.module.css';

const ACTIONS = Object.keys(DECIDED) as ReviewAction[];

/** A list without drafts: the tally of the day, and where to go next. */
export function CaughtUp({ isFiltered }: { isFiltered: boolean }): ReactNode {
  const project = String(useProject().id);
  if (isFiltered) return <Empty icon={MailCheck} title="No drafts match this filter" />;
  return (
    <Empty
      icon={MailCheck}
      title="All caught up"
      action={
        <Stack align="center" gap="md" w="100%">
          <Tally />
          <Group gap="sm">
            <Link className={classes.link} to="/p/$project/schedule" params={{ project }}>
              View schedule
            </Link>
            <Link className={classes.link} to="/p/$project/rules" params={{ project }}>
              View rules
            </Link>
          </Group>
        </Stack>
      }
    >
      Drafts to review appear here when a rule creates them. Approve, edit, postpone or skip them before their
      deadline.
    </Empty>
  );
}

/** What members decided today. Nothing is shown on a day without decisions. */
function Tally(): ReactNode {
  const today = useApi('GET /projects/:project/review/today', {});
  const tally = today.data?.data;
  if (!tally || tally.members.length === 0) return null;
  return <TallyOf tally={tally} />;
}

function TallyOf({
  tally: { members, at_least: isAtLeast, time_zone: zone },
}: {
  tally: ReviewTally;
}): ReactNode {
  const project = String(useProject().id);
  return (
    <Paper withBorder p="md" component="section" aria-label="Decided today" className={classes.tally}>
      <dl className={classes.totals}>
        {ACTIONS.map((action) => (
          <div key={action}>
            <dt>{DECIDED[action]}</dt>
            <dd>{formatCount(members.reduce((sum, member) => sum + member[action], 0))}</dd>
          </div>
        ))}
      </dl>
      {members.length > 1 && (
        <SmallTable
          aria-label="Decided today, by member"
          heads={['Member', ...ACTIONS.map((action) => capital(DECIDED[action]))]}
          rows={members.map((member, at) => ({
            key: `${at} ${member.by}`,
            cells: [
              member.mine ? `${member.by} (you)` : member.by,
              ...ACTIONS.map((action) => formatCount(member[action])),
            ],
          }))}
        />
      )}
      <Text size="sm" c="dimmed">
        {isAtLeast ? 'The newest decisions of today' : 'Today'}, by {zone} time.{' '}
        <Link
          className={classes.link}
          to="/p/$project/review"
          params={{ project }}
          search={{ view: 'decided' as const }}
        >
          View decided drafts
        </Link>
      </Text>
    </Paper>
  );
}
