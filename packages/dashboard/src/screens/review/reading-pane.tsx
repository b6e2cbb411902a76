import { ActionIcon, Button, Group, Menu, Skeleton, Stack, Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { DraftWhole } from '@beckon/contract/dashboard';
import { ArrowLeft, CalendarClock, Check, Ellipsis, Info, Pencil, SkipForward } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { later, Lines, Loaded } from '../../parts/index.ts';
import { firstClick } from './first-click.ts';
import type { EmailEditorProps } from './email-editor.tsx';
import { EmailHead } from './email-head.tsx';
import { EmailView, type Pane } from './email-view.tsx';
import { SendTest } from './send-test.tsx';
import { Unsaved } from './unsaved.tsx';
import { useFollowed } from './use-followed.ts';
import classes from './review.module.css';

const EmailEditor = later(() => import('./email-editor.tsx'), 'EmailEditor');

export type Tools = {
  approve: () => void;
  edit: () => void;
  postpone: () => void;
  skip: () => void;
  why: () => void;
};

export type ReadingProps = {
  id: string;
  tools: Tools;
  pane: Pane;
  onPane: (pane: Pane) => void;
  isEditing: boolean;
  onEdited: () => void;
  onSaved: EmailEditorProps['onSaved'];
  onBack: () => void;
};

/** The current draft: its actions and the email. */
export function ReadingPane(props: ReadingProps): ReactNode {
  const { id, onBack } = props;
  const draft = useApi('GET /projects/:project/drafts/:draft', { params: { draft: id } });
  useFollowed(id);
  return (
    <section className={classes.reading} aria-label="Draft">
      <Group className={classes.back ?? ''}>
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<ArrowLeft size={15} aria-hidden="true" />}
          onClick={onBack}
        >
          All drafts
        </Button>
      </Group>
      <Loaded query={draft} skeleton={<Bones />}>
        {({ data }) => <Reading draft={data} {...props} />}
      </Loaded>
    </section>
  );
}

function Reading({
  draft,
  tools,
  pane,
  onPane,
  isEditing,
  onEdited,
  onSaved,
}: ReadingProps & { draft: DraftWhole }): ReactNode {
  return (
    <>
      <EmailHead draft={draft} level={2} />
      <Bar draft={draft} tools={tools} isEditing={isEditing} />
      {isEditing ? (
        <EmailEditor key={draft.id} draft={draft} onClose={onEdited} onSaved={onSaved} />
      ) : (
        <>
          <Unsaved key={draft.id} draft={draft.id} onGoOn={tools.edit} />
          <EmailView draft={draft} pane={pane} onPane={onPane} />
        </>
      )}
    </>
  );
}

type BarProps = { draft: DraftWhole; tools: Tools; isEditing: boolean };

/** While the editor is open, a decision would be about a text that is not saved yet. */
function Bar({ draft, tools, isEditing }: BarProps): ReactNode {
  const [mayReview, mayEdit] = [useMay('reviewer'), useMay('editor')];
  const isOpen = draft.ended_at === null && draft.state !== 'sending';
  const isTheirs = draft.lease !== null && !draft.lease.mine;
  const off = !isOpen || isTheirs || isEditing;
  return (
    <Group gap={6} wrap="wrap" className={classes.tools ?? ''} onClickCapture={firstClick}>
      <Approve draft={draft} off={off || !mayReview} run={tools.approve} />
      <Act
        label="Edit"
        hint="e"
        icon={<Pencil size={15} aria-hidden="true" />}
        off={off || !mayEdit}
        run={tools.edit}
      />
      <Act
        label="Postpone"
        hint="h"
        icon={<CalendarClock size={15} aria-hidden="true" />}
        off={off || !mayReview}
        run={tools.postpone}
      />
      <Act
        label="Skip"
        hint="s"
        icon={<SkipForward size={15} aria-hidden="true" />}
        off={off || !mayReview}
        run={tools.skip}
      />
      <Act label="Why" hint="w" icon={<Info size={15} aria-hidden="true" />} off={false} run={tools.why} />
      {mayReview && <SendTest draft={draft.id} />}
      <More draft={draft.id} />
    </Group>
  );
}

function Approve({ draft, off, run }: { draft: DraftWhole; off: boolean; run: () => void }): ReactNode {
  const hasAddress = draft.user.email !== null;
  return (
    <Act
      label="Approve"
      hint="a"
      icon={<Check size={15} aria-hidden="true" />}
      off={off || !hasAddress || draft.state === 'approved'}
      {...(hasAddress ? {} : { why: 'The user has no email address' })}
      run={run}
      main
    />
  );
}

function More({ draft }: { draft: string }): ReactNode {
  const project = String(useProject().id);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="md" aria-label="More actions">
          <Ellipsis size={16} aria-hidden="true" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          renderRoot={(props) => (
            <Link {...props} to="/p/$project/drafts/$draft" params={{ project, draft }} />
          )}
        >
          Open in full page
        </Menu.Item>
        <Menu.Item
          renderRoot={(props) => (
            <Link
              {...props}
              to="/p/$project/drafts/$draft"
              params={{ project, draft }}
              search={{ tab: 'diff' }}
            />
          )}
        >
          Show changes
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

type ActProps = {
  label: string;
  hint: string;
  icon: ReactNode;
  off: boolean;
  /** Why it is off. */
  why?: string;
  run: () => void;
  main?: boolean;
};

function Act({ label, hint, icon, off, why, run, main = false }: ActProps): ReactNode {
  return (
    // An open tooltip would take the Escape that closes the editor, and a button that is off under the pointer keeps it open.
    <Tooltip label={why ?? `${label} (${hint})`} disabled={off && why === undefined}>
      <Button
        size="compact-sm"
        variant={main ? 'filled' : 'default'}
        leftSection={icon}
        disabled={off}
        onClick={run}
      >
        {label}
      </Button>
    </Tooltip>
  );
}

export function ReadingSkeleton(): ReactNode {
  return (
    <section className={classes.reading} aria-label="Draft" aria-busy="true">
      <Bones />
    </section>
  );
}

function Bones(): ReactNode {
  return (
    <Stack gap="md">
      <Skeleton height={24} width="60%" />
      <Lines count={2} />
      <Skeleton height={34} width="80%" />
      <Skeleton height={360} />
    </Stack>
  );
}
