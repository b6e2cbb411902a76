import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { FileText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TemplateShown, TemplateVersion } from '@beckon/contract/dashboard';
import { useChange, useMay } from '../../api/index.ts';
import { DialogFoot, Empty, refused, told, When } from '../../parts/index.ts';
import { Changes } from './publish-dialog.tsx';

/** Every version that was published, and what each changed. */
export function TemplateVersions({ template }: { template: TemplateShown }): ReactNode {
  const { versions } = template;
  const mayEdit = useMay('editor');
  const [chosen, setChosen] = useState(String(versions[0]?.version ?? ''));
  const at = versions.findIndex(({ version }) => String(version) === chosen);
  const [one, before] = [versions[at], versions[at + 1]];
  if (!one)
    return (
      <Empty icon={FileText} title="Nothing of your own was published yet">
        The first time that you publish it makes version 1.
      </Empty>
    );
  return (
    <Stack gap="md" maw={860}>
      <Group gap="md" align="end">
        <Select
          label="Version"
          value={chosen}
          onChange={(next) => setChosen(next ?? chosen)}
          allowDeselect={false}
          data={versions.map(({ version }) => ({
            value: String(version),
            label: version === template.version ? `${version}, published` : String(version),
          }))}
          w={180}
        />
        <Text size="sm" c="dimmed" pb={8}>
          <When at={one.created_at} /> by {one.created_by}
        </Text>
        {mayEdit && one.version !== template.version && <PutBack template={template} version={one} />}
      </Group>
      {before ? (
        <>
          <Text size="sm">Against version {before.version}:</Text>
          <Changes before={before} after={one} />
        </>
      ) : (
        <Text size="sm">It is the oldest that is shown: “{one.subject}”.</Text>
      )}
    </Stack>
  );
}

/** Into the editor; over unpublished words only once somebody has said so. */
function PutBack({ template, version }: { template: TemplateShown; version: TemplateVersion }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const { name, draft } = template;
  const { format, subject, preheader, body } = version;
  const restore = useChange('PUT /projects/:project/templates/:template/draft', {
    refreshes: ['GET /projects/:project/templates', 'GET /projects/:project/templates/:template'],
    onDone: () => told('It stands in the editor now, unpublished'),
    onRefused: (error) => refused(error),
  });
  const put = (): void => {
    setAsked(false);
    const letter = { format, subject, preheader, body };
    restore.mutate({ params: { template: name }, body: { source: letter, seen: draft?.saved_at ?? null } });
  };
  return (
    <>
      <Button
        variant="default"
        loading={restore.isPending}
        onClick={draft === null ? put : () => setAsked(true)}
      >
        Put it into the editor
      </Button>
      <Modal
        opened={isAsked}
        onClose={() => setAsked(false)}
        title={`Put version ${version.version} into the editor?`}
      >
        <Text size="sm">
          The words that {draft?.saved_by} saved and that are not published are gone then.
        </Text>
        <DialogFoot onCancel={() => setAsked(false)}>
          <Button onClick={put}>Put it over them</Button>
        </DialogFoot>
      </Modal>
    </>
  );
}
