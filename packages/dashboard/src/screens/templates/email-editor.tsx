import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { FilePen, Send } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { EmailSource, TemplateDetails } from '@beckon/contract/dashboard';
import { useChange, useMay, useProject } from '../../api/index.ts';
import { later, refused, SaveBar, notify, useEdited, WhenOpened } from '../../parts/index.ts';
import { EmailForm } from './email-form.tsx';
import { PreviewPane } from './preview-pane.tsx';
import { isSame, takeProposed } from './proposed.ts';
import classes from './templates.module.css';
import { usePreview } from './use-preview.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const Changes = later(() => import('./publish-dialog.tsx'), 'Changes');
const PublishDialog = later(() => import('./publish-dialog.tsx'), 'PublishDialog', null);

const route = getRouteApi('/p/$project/templates/$template');

type Props = { template: TemplateDetails; isNew?: boolean };

/** The template's editor with its preview. Saving keeps an unpublished version; publishing changes what users get. */
export function EmailEditor({ template, isNew = false }: Props): ReactNode {
  const { name } = template;
  const { user, at } = route.useSearch();
  const navigate = route.useNavigate();
  const mayEdit = useMay('editor');
  const words = useWords(template);
  const { email } = words;
  const previewed = usePreview(name, { email, user, at });
  const faults = previewed.preview?.faults ?? [];
  const onSaved = (): void => {
    words.forget();
    if (isNew) void navigate({ search: (was) => ({ ...was, tab: undefined }), replace: true });
  };
  return (
    <>
      {words.isOther && <SavedMeanwhile template={template} words={words} />}
      <div className={classes.columns}>
        <EmailForm
          key={words.resets}
          email={email}
          onChange={words.change}
          faults={faults}
          readOnly={!mayEdit}
          template={{
            variables: previewed.preview?.variables ?? template.variables,
            other_variables: template.other_variables,
          }}
        />
        <PreviewPane
          name={name}
          previewed={previewed}
          user={user}
          onUser={(next) =>
            void navigate({ search: (was) => ({ ...was, user: next, at: undefined }), replace: true })
          }
          at={at}
          onAt={(next) => void navigate({ search: (was) => ({ ...was, at: next }), replace: true })}
        />
      </div>
      {mayEdit && (
        <SaveFooter
          template={template}
          words={words}
          isNew={isNew}
          isSound={faults.length === 0 && !previewed.isOld}
          onSaved={onSaved}
        />
      )}
    </>
  );
}

type Words = {
  email: EmailSource;
  /** The version that the edit began with. */
  base: Base;
  /** Another member saved or published since then. */
  isOther: boolean;
  change: (email: EmailSource) => void;
  /** The text differs from the saved version. */
  isDirty: boolean;
  forget: () => void;
  /** Counts discards, which reset the form. */
  resets: number;
  discard: () => void;
};

/** The published version, null if the project has none, and when an unpublished version was saved. */
type Base = { version: number | null; seen: string | null };

function baseOf({ version, unpublished }: TemplateDetails): Base {
  return { version, seen: unpublished?.saved_at ?? null };
}

/** The typed text, else the saved version, else the published one. */
function useWords(template: TemplateDetails): Words {
  const { id: project } = useProject();
  const { name } = template;
  const saved = sourceOf(template.unpublished ?? template.published);
  const stamp = JSON.stringify(baseOf(template));
  const { value: email, change, forget, base } = useEdited(`words:${project}:${name}`, saved, stamp);
  const [resets, setResets] = useState(0);
  useEffect(() => {
    const proposed = takeProposed(name);
    if (proposed) change({ ...email, ...proposed });
    // Once, when the editor opens.
  }, []);
  const discard = (): void => {
    forget();
    setResets(resets + 1);
  };
  const isDirty = !isSame(email, saved);
  const isOther = isDirty && base !== stamp;
  return { email, base: JSON.parse(base) as Base, isOther, change, isDirty, forget, resets, discard };
}

function sourceOf({ format, subject, preheader, body }: EmailSource): EmailSource {
  return { format, subject, preheader, body };
}

/** Typed text stays until the member decides. */
function SavedMeanwhile({ template, words }: { template: TemplateDetails; words: Words }): ReactNode {
  return (
    <Alert color="yellow" variant="outline" mb="md" title="This template changed while you were editing">
      <Stack gap="xs">
        <Text size="sm">Your text is kept. Differences from the saved version:</Text>
        <Changes before={sourceOf(template.unpublished ?? template.published)} after={words.email} />
        <Group>
          <ActButton size="compact-sm" onClick={words.discard}>
            Discard my changes
          </ActButton>
        </Group>
      </Stack>
    </Alert>
  );
}

type SaveFooterProps = {
  template: TemplateDetails;
  words: Words;
  isNew: boolean;
  isSound: boolean;
  onSaved: () => void;
};

function SaveFooter({ template, words, isNew, isSound, onSaved }: SaveFooterProps): ReactNode {
  const { name, published } = template;
  const { email, isDirty, isOther, discard } = words;
  const label = isOther ? 'Overwrite' : 'Save without publishing';
  const [isPublishing, setPublishing] = useState(false);
  const save = useChange('PUT /projects/:project/templates/:template/unpublished', {
    refreshes: ['GET /projects/:project/templates', 'GET /projects/:project/templates/:template'],
    onDone: () => {
      notify('Saved, not published');
      onSaved();
    },
    onRefused: (error) => refused(error, 'Not saved'),
  });
  const { seen } = baseOf(template);
  const saveNow = (): void => save.mutate({ params: { template: name }, body: { source: email, seen } });
  return (
    <>
      <Buttons
        canPublish={isSound && !isSame(email, sourceOf(published))}
        canSave={isNew && !isDirty}
        label={label}
        isSaving={save.isPending}
        onPublish={() => setPublishing(true)}
        onSave={saveNow}
      />
      <SaveBar
        dirty={isDirty}
        saving={save.isPending}
        onSave={saveNow}
        onDiscard={discard}
        label={label}
        note="Unsaved changes. Users get them only after publishing."
      />
      <WhenOpened opened={isPublishing}>
        <PublishDialog
          opened={isPublishing}
          onClose={() => setPublishing(false)}
          template={template}
          email={email}
          base={words.base}
          onPublished={() => {
            setPublishing(false);
            onSaved();
          }}
        />
      </WhenOpened>
    </>
  );
}

type ButtonProps = {
  canPublish: boolean;
  canSave: boolean;
  label: string;
  isSaving: boolean;
  onPublish: () => void;
  onSave: () => void;
};

function Buttons({ canPublish, canSave, label, isSaving, onPublish, onSave }: ButtonProps): ReactNode {
  return (
    <Group gap="xs" mt="lg">
      <ActButton icon={Send} variant="filled" disabled={!canPublish} onClick={onPublish}>
        Publish…
      </ActButton>
      {/* With unsaved changes, the bar below the form has this button. */}
      {canSave && (
        <Button
          variant="default"
          leftSection={<FilePen size={16} aria-hidden="true" />}
          loading={isSaving}
          onClick={onSave}
        >
          {label}
        </Button>
      )}
      {!canPublish && <Muted size="xs">Nothing to publish yet, or the template has errors.</Muted>}
    </Group>
  );
}
