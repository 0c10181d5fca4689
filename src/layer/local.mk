# layer: names of the confinement layers, init's messages, comparison of a proof
libcore_a_SOURCES += \
	src/layer/inherit-check.c \
	src/layer/inherit-table.c src/layer/inherit-table.h \
	src/layer/init-proto.h \
	src/layer/layer-proof.c src/layer/layer-proof.h \
	src/layer/layer.c src/layer/layer.h
