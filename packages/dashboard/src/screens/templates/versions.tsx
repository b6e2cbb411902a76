import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { FileText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TemplateDetails, TemplateVersion } from '@beckon/contract/dashboard';
import { useChange, useMay } from '../../api/index.ts';
import { DialogFoot, Empty, refused, notify, When } from '../../parts/index.ts';
import { Changes } from './publish-dialog.tsx';

/** All published versions with their changes. */
export function TemplateVersions({ template }: { template: TemplateDetails }): ReactNode {
  const { versions } = template;
  const mayEdit = useMay('editor');
  const [chosen, setChosen] = useState(String(versions[0]?.version ?? ''));
  const at = versions.findIndex(({ version }) => String(version) === chosen);
  const [version, before] = [versions[at], versions[at + 1]];
  if (!version)
    return (
      <Empty icon={FileText} title="No published versions yet">
        Publish this template to create version 1.
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
          <When at={version.created_at} /> by {version.created_by}
        </Text>
        {mayEdit && version.version !== template.version && (
          <RestoreVersion template={template} version={version} />
        )}
      </Group>
      {before ? (
        <>
          <Text size="sm">Compared with version {before.version}:</Text>
          <Changes before={before} after={version} />
        </>
      ) : (
        <Text size="sm">Oldest stored version: “{version.subject}”.</Text>
      )}
    </Stack>
  );
}

/** Copies a version into the editor. Replacing an unpublished version needs a confirmation. */
function RestoreVersion({
  template,
  version,
}: {
  template: TemplateDetails;
  version: TemplateVersion;
}): ReactNode {
  const [isDialogOpen, setDialogOpen] = useState(false);
  const { name, unpublished } = template;
  const { format, subject, preheader, body } = version;
  const restore = useChange('PUT /projects/:project/templates/:template/unpublished', {
    refreshes: ['GET /projects/:project/templates', 'GET /projects/:project/templates/:template'],
    onDone: () => notify('Version copied to the editor, not published'),
    onRefused: (error) => refused(error),
  });
  const put = (): void => {
    setDialogOpen(false);
    const email = { format, subject, preheader, body };
    restore.mutate({
      params: { template: name },
      body: { source: email, seen: unpublished?.saved_at ?? null },
    });
  };
  return (
    <>
      <Button
        variant="default"
        loading={restore.isPending}
        onClick={unpublished === null ? put : () => setDialogOpen(true)}
      >
        Copy to editor
      </Button>
      <Modal
        opened={isDialogOpen}
        onClose={() => setDialogOpen(false)}
        title={`Copy version ${version.version} to the editor?`}
      >
        <Text size="sm">This replaces the unpublished version saved by {unpublished?.saved_by}.</Text>
        <DialogFoot onCancel={() => setDialogOpen(false)}>
          <Button onClick={put}>Overwrite</Button>
        </DialogFoot>
      </Modal>
    </>
  );
}
