import { Stack, Table, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { DraftContext } from '@beckon/contract/dashboard';
import { ShieldOff } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { useApi, useProject } from '../../api/index.ts';
import { Lines, Loaded, Mark, Person, When } from '../../parts/index.ts';
import { StateMark } from './state-mark.tsx';
import { useBorrowedFocus } from './use-borrowed-focus.ts';
import { WhyList } from './why-list.tsx';
import classes from './review.module.css';
import { outcomeWords } from '../../parts/codes.ts';

/** The pane beside a draft: its reason, its user, earlier emails and replies. */
export function ContextPane({
  draft,
  takesFocus = false,
}: {
  draft: string;
  takesFocus?: boolean;
}): ReactNode {
  const aside = useRef<HTMLElement>(null);
  useBorrowedFocus(aside, takesFocus);
  const context = useApi('GET /projects/:project/drafts/:draft/context', { params: { draft } });
  return (
    <aside ref={aside} tabIndex={-1} className={classes.context} aria-label="About this draft">
      <Loaded query={context} skeleton={<Lines count={14} />}>
        {({ data }) => (
          <>
            <Section title="Why">
              <WhyList steps={data.why} />
            </Section>
            <Section title="User">
              <ContextUser person={data.user} />
            </Section>
            <Section title="Recent emails">
              <Emails emails={data.emails} />
            </Section>
            <Section title="Replies">
              <Thread thread={data.thread} />
            </Section>
          </>
        )}
      </Loaded>
    </aside>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section>
      <Title order={2} size="h6" mb={8}>
        {title}
      </Title>
      {children}
    </section>
  );
}

function ContextUser({ person }: { person: DraftContext['user'] }): ReactNode {
  if (!person) return <Nothing>This user was erased.</Nothing>;
  const { external_user_id: id, email, time_zone: zone, audiences, traits, suppressed } = person;
  const rows: [string, ReactNode][] = [
    ['User', <Person key="id" id={id} />],
    ['Email', email ?? 'No address'],
    ['Time zone', zone],
    ...(audiences.length > 0
      ? [['Audiences', audiences.map(({ name }) => name).join(', ')] as [string, ReactNode]]
      : []),
    ...Object.entries(traits).map(([name, value]): [string, ReactNode] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ];
  return (
    <Stack gap="xs">
      {suppressed && <Mark icon={ShieldOff} tone="bad" label="Suppressed: gets no emails" />}
      <Table
        layout="fixed"
        withRowBorders={false}
        verticalSpacing={3}
        horizontalSpacing={0}
        fz="sm"
        aria-label="Traits"
      >
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={400} c="dimmed" w="38%" style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}

function Emails({ emails }: Pick<DraftContext, 'emails'>): ReactNode {
  const project = useProject();
  if (emails.length === 0) return <Nothing>This is the first email to this user.</Nothing>;
  return (
    <Stack gap="xs">
      {emails.map(({ id, subject, state, rule, at, outcomes }) => (
        <div key={id}>
          <Text size="sm" lineClamp={1}>
            <Link
              className={classes.link}
              to="/p/$project/drafts/$draft"
              params={{ project: String(project.id), draft: id }}
            >
              {subject}
            </Link>
          </Text>
          <Text size="xs" c="dimmed" component="div">
            <StateMark draft={{ state, reason: null }} /> {rule} · <When at={at} />
            {outcomes.length > 0 && ` · ${outcomes.map(outcomeWords).join(', ')}`}
          </Text>
        </div>
      ))}
    </Stack>
  );
}

function Thread({ thread }: Pick<DraftContext, 'thread'>): ReactNode {
  if (thread.length === 0) return <Nothing>No replies.</Nothing>;
  return (
    <Stack gap="sm">
      {thread.map(({ id, received_at: at, subject, text, verified }) => (
        <div key={id}>
          <Text size="xs" c="dimmed" component="div">
            <When at={at} />
            {verified ? '' : ' · sender not verified'}
          </Text>
          {subject !== null && <Text size="sm">{subject}</Text>}
          {text !== null && <p className={classes.quote}>{text}</p>}
        </div>
      ))}
    </Stack>
  );
}

function Nothing({ children }: { children: ReactNode }): ReactNode {
  return (
    <Text size="sm" c="dimmed">
      {children}
    </Text>
  );
}
