/* SPDX-License-Identifier: MIT */
/*
 * shim_topo.c: loads each topology once per process and keeps it, because loading takes longer than
 * a whole run. An invalid name fails again each time.
 */
#include "shim.h"

#undef hwloc_topology_init
#undef hwloc_topology_set_all_types_filter
#undef hwloc_topology_set_type_filter
#undef hwloc_topology_set_flags
#undef hwloc_topology_set_synthetic
#undef hwloc_topology_set_xml
#undef hwloc_topology_load
#undef hwloc_topology_destroy
#undef strdup

enum { KEPT = 64, NAME_MAX_ = 200 };

static struct {
	char name[NAME_MAX_];
	hwloc_topology_t topology;
} kept[KEPT];
static int kept_count, wanted;

static hwloc_topology_t
load(const char *text, bool xml)
{
	hwloc_topology_t t;

	if (hwloc_topology_init(&t) != 0)
		return NULL;
	hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(t, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(t, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(t, HWLOC_OBJ_L2CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(t, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
	    HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
	if ((xml ? hwloc_topology_set_xml(t, text) : hwloc_topology_set_synthetic(t, text)) == 0 &&
	    hwloc_topology_load(t) == 0)
		return t;
	hwloc_topology_destroy(t);
	return NULL;
}

int
sim_topology_set(hwloc_topology_t topology, const char *text, bool xml)
{
	(void)topology;
	for (wanted = 0; wanted < kept_count; wanted++) {
		if (strcmp(kept[wanted].name, text) == 0)
			return 0;
	}
	if (kept_count == KEPT || strlen(text) >= NAME_MAX_) {
		fprintf(stderr, "sim: too many topologies\n");
		return -1;
	}
	kept[kept_count].topology = load(text, xml);
	if (kept[kept_count].topology == NULL)
		return -1;
	strcpy(kept[kept_count++].name, text);
	return 0;
}

int
sim_topology_load(hwloc_topology_t *topology)
{
	if (wanted >= kept_count)
		return -1;
	*topology = kept[wanted].topology;
	return 0;
}
