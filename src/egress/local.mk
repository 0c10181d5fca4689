# egress: allowed hosts of a session: DNS and proxy inside its network namespace, decision, relay; custody-egress
libcore_a_SOURCES +=
